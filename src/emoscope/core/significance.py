"""How certain a score is: bootstrap intervals and Wilcoxon's signed-rank test.

Resampling n items with replacement fills the cells of a table (gold, prediction, prediction of another system, ...)
with multinomial counts, and our metrics see nothing but those counts. So we draw the counts: the same distribution as
drawing items one by one, at the cost of a few dozen cells instead of thousands of items.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import Counts, Floats

ScoreFunction = Callable[[Counts], Floats]  # of one confusion matrix, or of each in a stack
Codes = NDArray[np.int64]
Seed = int | np.random.Generator

SAMPLES = 10_000

# Up to this many pairs without ties the signed-rank distribution is enumerated (its counts are exact in a float).
_EXACT_PAIRS = 50
# Numbers held at once while drawing: some 30 MB.
_CHUNK = 4_000_000
# A multinomial count costs about as much as drawing this many items one by one.
_CELL_COST = 20


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle `level` of a bootstrap distribution (percentile interval)."""

    level: float
    low: float
    high: float
    samples: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one system's score lies above another's on the same items."""

    observed: float
    p_value: float
    interval: Interval


def percentile_interval(drawn: Floats, *, level: float) -> Interval:
    """The interval that holds the middle `level` of the drawn values.

    >>> percentile_interval(np.arange(101.0), level=0.5)
    Interval(level=0.5, low=25.0, high=75.0, samples=101)
    """
    check_level(level)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(level, float(low), float(high), len(drawn))


def bootstrap_interval(
    confusion: Counts, metric: ScoreFunction, *, level: float = 0.95, samples: int = SAMPLES, seed: Seed = 0
) -> Interval:
    """The interval of a metric under resampling of the items behind a confusion matrix.

    >>> from emoscope.core.metrics import accuracy
    >>> interval = bootstrap_interval(np.array([[40, 10], [10, 40]]), accuracy, samples=2000)
    >>> 0.70 < interval.low < 0.74 and 0.86 < interval.high < 0.90
    True
    """
    check_samples(samples)
    table = np.asarray(confusion)
    items = int(table.sum())
    if items == 0:
        raise EmoscopeError("there are no items to resample")
    cell_of_item = np.repeat(np.arange(table.size), table.reshape(-1).astype(np.int64))
    drawn = [
        metric(counts.reshape(len(counts), *table.shape))
        for counts in _drawn_counts(cell_of_item, table.size, samples, np.random.default_rng(seed))
    ]
    return percentile_interval(np.concatenate(drawn), level=level)


def resampled_scores(
    gold: Codes,
    predictions: Sequence[Codes],
    *,
    classes: int,
    metric: ScoreFunction,
    samples: int = SAMPLES,
    seed: Seed = 0,
    advance: Callable[[int], object] = lambda _: None,
) -> Floats:
    """Each system's score (rows) on each of `samples` resamplings (columns), the same ones for all systems.

    Labels are codes from 0 to `classes` - 1; `advance` is called with the number of further draws done.

    >>> from emoscope.core.metrics import accuracy
    >>> gold = np.array([0, 1, 1, 0])
    >>> resampled_scores(gold, [gold, 1 - gold], classes=2, metric=accuracy, samples=3).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    """
    check_samples(samples)
    if not len(gold) or any(len(predicted) != len(gold) for predicted in predictions):
        raise EmoscopeError("every system needs one prediction for each of at least one item")
    # Sorted by gold label, so the cells of one gold label stand together.
    joint, cell_of_item = np.unique(np.stack([gold, *predictions]), axis=1, return_inverse=True)
    edges = np.searchsorted(joint[0], np.arange(classes + 1))
    # Whole numbers below 2**24 are exact in single precision, which halves the work.
    exact = np.dtype(np.float32 if len(gold) < 1 << 24 else np.float64)
    # For each cell a 1 at every (system, label) it is predicted as; counts times this are rows of the confusions.
    ones = np.eye(classes, dtype=exact)[joint[1:].T].reshape(-1, len(predictions) * classes)
    scores = np.empty((len(predictions), samples))
    done = 0
    rng = np.random.default_rng(seed)
    for drawn in _drawn_counts(cell_of_item.reshape(-1), joint.shape[1], samples, rng):
        counts = drawn.astype(exact)
        matrices = np.empty((len(counts), len(predictions), classes, classes))
        for row in range(classes):
            cells = slice(edges[row], edges[row + 1])
            sums = counts[:, cells] @ ones[cells]
            matrices[:, :, row, :] = sums.reshape(len(counts), len(predictions), classes)
        scores[:, done : done + len(counts)] = metric(matrices).T
        done += len(counts)
        advance(len(counts))
    return scores


def _drawn_counts(cell_of_item: Codes, cells: int, samples: int, rng: np.random.Generator) -> Iterator[Codes]:
    """Resampled counts per cell, many draws at a time, by whichever of two equivalent ways is cheaper."""
    items = len(cell_of_item)
    by_cell = cells * _CELL_COST < items
    shares = np.bincount(cell_of_item, minlength=cells) / items
    step = max(1, _CHUNK // cells)
    for start in range(0, samples, step):
        draws = min(step, samples - start)
        if by_cell:
            yield rng.multinomial(items, shares, size=draws)
        else:
            picks = (cell_of_item[rng.integers(items, size=items)] for _ in range(draws))
            yield np.stack([np.bincount(picked, minlength=cells) for picked in picks])


def difference(observed: float, drawn: Floats, *, level: float = 0.95) -> Difference:
    """The p-value and the interval of an observed difference, from resampled ones.

    The two-sided p-value is the share of draws that lie at least as far from the observed difference as zero does,
    counted as (b + 1) / (B + 1): the observation is itself one draw, so it is never 0.

    >>> difference(0.02, np.array([0.01, 0.02, 0.03])).p_value
    0.25
    """
    # Equal fractions may differ in their last bit.
    beyond = int(np.count_nonzero(np.abs(drawn - observed) >= abs(observed) - 1e-12))
    return Difference(observed, (beyond + 1) / (len(drawn) + 1), percentile_interval(drawn, level=level))


def wilson_interval(hits: int, items: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share: sensible for few items, and where all or none are hits.

    >>> [round(bound, 3) for bound in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    check_level(level)
    if items == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, spread = hits / items, z * z / items
    centre = share + spread / 2
    half = math.sqrt(spread * (share * (1 - share) + spread / 4))
    return max(0.0, (centre - half) / (1 + spread)), min(1.0, (centre + half) / (1 + spread))


def wilcoxon(differences: ArrayLike) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test on paired differences.

    Zeros are dropped and ties get their average rank. Up to 50 pairs without ties the p-value is exact; otherwise it
    comes from the normal approximation with the variance corrected for ties.

    >>> round(wilcoxon([1.1, 2.2, 3.3, 4.4, -0.5]), 4)
    0.125
    >>> wilcoxon([0, 0])
    1.0
    """
    values = np.asarray(differences, np.float64)
    values = values[values != 0]
    pairs = len(values)
    if pairs == 0:
        return 1.0
    ranks, ties = ranked(np.abs(values))
    positive = float(ranks[values > 0].sum())
    if pairs <= _EXACT_PAIRS and ties.max() == 1:
        return _exact_signed_rank(pairs, round(positive))
    variance = pairs * (pairs + 1) * (2 * pairs + 1) / 24 - float((ties**3 - ties).sum()) / 48
    deviation = abs(positive - pairs * (pairs + 1) / 4)
    return math.erfc(deviation / math.sqrt(2 * variance))


def ranked(values: Floats) -> tuple[Floats, Floats]:
    """The rank of each value, from 1, ties at their mean rank; and how many values share each rank.

    >>> ranked(np.array([0.5, 0.1, 0.5]))
    (array([2.5, 1. , 2.5]), array([1., 2.]))
    """
    _, inverse, ties = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(ties) - (ties - 1) / 2)[inverse.reshape(-1)], ties.astype(np.float64)


def _exact_signed_rank(pairs: int, positive: int) -> float:
    """Both tails of the sum of those ranks 1..pairs that a fair coin selects."""
    ways = np.zeros(pairs * (pairs + 1) // 2 + 1)
    ways[0] = 1
    for rank in range(1, pairs + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    tail = min(ways[: positive + 1].sum(), ways[positive:].sum())
    return float(min(1.0, 2 * tail / 2.0**pairs))


def check_level(level: float) -> None:
    """Raise an error unless a confidence level lies between 0 and 1."""
    if not 0 < level < 1:
        raise EmoscopeError(f"the confidence level must lie between 0 and 1, not {level:g}; 0.95 means 95 %")


def check_samples(samples: int) -> None:
    """Raise an error unless a bootstrap has at least one draw."""
    if samples < 1:
        raise EmoscopeError(f"the number of bootstrap samples must be at least 1, not {samples}")
