"""8-bit quantisation of an encoder that changes the layers' outputs on real dialogues least."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from emoscope.models.export.architecture import SITES, Architecture, Floats, Layer, Linear
from emoscope.models.export.arithmetic import ByteTable, ByteWeights, Site

LARGEST = 127
# Candidates for how much of an outlier is moved from the inputs to the weights.
STRENGTHS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
# Candidates for the largest value, as a share of the largest one seen; larger values are clipped.
MARGINS = (1.0, 0.9, 0.8)
ZEROS = (4, 8, 12, 16, 24, 32)
LOWEST_GELU = 0.17
SAMPLE = 2048
BLOCK = 128

# The inputs at a layer's sites, in the order of `SITES`: a table with a row for each token.
Probe = Callable[[Architecture, int], Sequence[Floats]]


def quantise(architecture: Architecture, probe: Probe) -> tuple[Architecture, ByteWeights]:
    """The encoder with balanced attention values, and its tables as bytes. `probe` computes in single precision."""
    sites: dict[str, Site] = {}
    tables: dict[str, ByteTable] = {}
    layers = []
    for number, given in enumerate(architecture.layers):
        seen = list(probe(architecture, number))
        layer, seen[1] = _balanced(given, seen[1])
        for (name, parts), rows in zip(SITES.items(), seen, strict=True):
            linears = {part: getattr(layer, part) for part in parts}
            weights = np.concatenate([linear.weight for linear in linears.values()], axis=1)
            site = _best_site(name, architecture.activation, rows, weights)
            sites[f"{number}.{name}"] = site
            smoothed = rows if site.smoothing is None else rows / site.smoothing
            for part, linear in linears.items():
                weight = linear.weight if site.smoothing is None else linear.weight * site.smoothing[:, None]
                tables[f"{number}.{part}"] = byte_columns(weight, smoothed)
        layers.append(layer)
    return replace(architecture, layers=tuple(layers)), ByteWeights(byte_rows(architecture.pieces), sites, tables)


def byte_rows(table: Floats) -> ByteTable:
    """A table as bytes with a scale for each row.

    >>> byte_rows(np.array([[1.0, -2.0], [0.0, 0.5]], np.float32)).numbers.tolist()
    [[64, -127], [0, 127]]
    """
    scales = _scales(np.abs(table).max(1, keepdims=True))
    return ByteTable(np.rint(table / scales).astype(np.int8), scales)


def byte_columns(weight: Floats, rows: Floats) -> ByteTable:
    """Weights as bytes with a scale for each column, rounded one row after the other.

    The remaining rows compensate for the rounding error so far, as far as the inputs in `rows` are correlated
    (GPTQ: Frantar, Ashkboos, Hoefler and Alistarh 2023).
    """
    scales = _scales(np.abs(weight).max(0, keepdims=True))
    seen = rows.astype(np.float64)
    moments = seen.T @ seen / len(seen)
    moments[np.diag_indices_from(moments)] += 0.01 * np.trace(moments) / len(moments) + 1e-9
    follow = np.linalg.cholesky(np.linalg.inv(moments)).T
    left = weight.astype(np.float64)
    numbers = np.zeros(weight.shape, np.int8)
    for first in range(0, len(left), BLOCK):
        last = min(first + BLOCK, len(left))
        missed = np.zeros((last - first, left.shape[1]))
        for row in range(first, last):
            numbers[row] = np.clip(np.rint(left[row] / scales[0]), -LARGEST, LARGEST)
            missed[row - first] = (left[row] - numbers[row] * scales[0]) / follow[row, row]
            left[row + 1 : last] -= np.outer(follow[row, row + 1 : last], missed[row - first])
        left[last:] -= follow[first:last, last:].T @ missed
    return ByteTable(numbers, scales[0])


def _scales(largest: Floats) -> Floats:
    return (np.maximum(largest, 1e-8) / LARGEST).astype(np.float32)


def _balanced(layer: Layer, answers: Floats) -> tuple[Layer, Floats]:
    """An equivalent layer whose attention outputs have the same range in all columns."""
    largest = np.maximum(np.abs(answers).max(0), 1e-3)
    factors = (largest / largest.mean()).astype(np.float32)
    value = Linear(layer.value.weight / factors, layer.value.bias / factors)
    output = Linear(layer.output.weight * factors[:, None], layer.output.bias)
    return replace(layer, value=value, output=output), answers / factors


def _best_site(name: str, activation: str, rows: Floats, weight: Floats) -> Site:
    """The quantisation of the inputs that changes the outputs least."""
    sample = rows[np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows))).astype(int)]
    exact = sample @ weight
    tried = list(_sites_by_row(activation) if name == "narrow" else _fixed_sites(rows, smooth=name != "output"))
    losses = [float(np.square(_through_bytes(sample, site, weight) - exact).mean()) for site in tried]
    return tried[int(np.argmin(losses))]


def _sites_by_row(activation: str) -> Iterator[Site]:
    """Sites after the activation: no value is far below 0, so most of the range is for positive values."""
    if activation == "relu":
        yield Site(zero=0, smallest_step=1e-8)
    else:
        for zero in ZEROS:
            yield Site(zero=zero, smallest_step=LOWEST_GELU / zero)


def _fixed_sites(rows: Floats, *, smooth: bool) -> Iterator[Site]:
    largest = np.maximum(np.abs(rows).max(0), 1e-3)
    for strength in STRENGTHS if smooth else (0.0,):
        factors = (largest**strength / np.mean(largest**strength)).astype(np.float32)
        reach = float(np.abs(rows / factors).max())
        for margin in MARGINS:
            yield Site(zero=LARGEST + 1, step=reach * margin / LARGEST, smoothing=factors if strength else None)


def _through_bytes(rows: Floats, site: Site, weight: Floats) -> Floats:
    """The result of the quantised graph, computed in floats."""
    if site.smoothing is not None:
        rows, weight = rows / site.smoothing, weight * site.smoothing[:, None]
    step = site.step
    if step is None:
        step = np.maximum(rows.max(1, keepdims=True) / (255 - site.zero), site.smallest_step)
    numbers = np.clip(np.rint(rows / step) + site.zero, 0, 255) - site.zero
    scales = _scales(np.abs(weight).max(0))
    product: Floats = (numbers * step).astype(np.float32) @ (np.rint(weight / scales) * scales)
    return product
