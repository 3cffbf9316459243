"""Multiplication with an encoder's weights: single precision, 8-bit, or dequantised 8-bit."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emoscope.models.export.architecture import Floats, Linear
from emoscope.models.export.writer import GraphWriter

Bytes = NDArray[np.int8]


@dataclass(frozen=True)
class Plain:
    """Weights in single precision; `half` stores weights that were rounded to half precision as such."""

    pieces: Floats
    half: bool = False

    def embed(self, graph: GraphWriter, pieces: str) -> str:
        table = graph.constant("pieces.table", self.pieces.astype(np.float16) if self.half else self.pieces)
        rows = graph.node("Gather", table, pieces)
        return graph.cast(rows, np.float32) if self.half else rows

    def linear(self, graph: GraphWriter, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        del site
        products = []
        for name, linear in layers.items():
            weight = graph.constant(f"{name}.weight", linear.weight.astype(np.float16) if self.half else linear.weight)
            if self.half:  # dequantised when the graph is loaded
                weight = graph.cast(weight, np.float32)
            products.append(graph.node("Gemm", value, weight, graph.constant(f"{name}.bias", linear.bias)))
        return products


@dataclass(frozen=True, slots=True)
class Site:
    """How the inputs at a site are quantised to integers from 0 to 255; `zero` is the integer for 0.

    `smoothing` divides each column first, as a few columns have outliers; the weights compensate. Without a `step`,
    each row gets its own, from its largest value, but at least `smallest_step`.
    """

    zero: int
    step: float | None = None
    smoothing: Floats | None = None
    smallest_step: float = 0.0


@dataclass(frozen=True, slots=True)
class ByteTable:
    """Weights as integers, with a scale for each column (in the token embeddings, for each row)."""

    numbers: Bytes
    scales: Floats


@dataclass(frozen=True, slots=True)
class ByteWeights:
    """The large tables of an encoder as bytes: the token embeddings, and the linear layers with their input sites."""

    pieces: ByteTable
    sites: Mapping[str, Site]
    tables: Mapping[str, ByteTable]


@dataclass(frozen=True)
class Int8:
    """8-bit products and integer sums; they are exact, so no row of a batch depends on another."""

    weights: ByteWeights

    def embed(self, graph: GraphWriter, pieces: str) -> str:
        table = self.weights.pieces
        numbers = graph.node("Gather", graph.constant("pieces.numbers", table.numbers), pieces)
        scales = graph.node("Gather", graph.constant("pieces.scales", table.scales), pieces)
        return graph.node("Mul", graph.cast(numbers, np.float32), scales)

    def linear(self, graph: GraphWriter, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        how = self.weights.sites[site]
        if how.smoothing is not None:
            value = graph.node("Mul", value, graph.constant(f"{site}.smoothing", 1 / how.smoothing))
        if how.step is None:
            return self.by_row(graph, how, value, graph.node("ReduceMax", value, axes=[1], keepdims=0), layers)
        zero = graph.constant(f"zero.{how.zero}", np.array(how.zero, np.uint8))
        step = graph.constant(f"{site}.step", np.array(how.step, np.float32))
        numbers = graph.node("QuantizeLinear", value, step, zero)
        return [
            self._product(graph, name, numbers, step, zero, graph.constant(f"{name}.bias", linear.bias))
            for name, linear in layers.items()
        ]

    def by_row(
        self, graph: GraphWriter, how: Site, value: str, largest: str, layers: Mapping[str, Linear]
    ) -> list[str]:
        """Quantise each row with its own step, computed from its largest value."""
        zero = graph.constant(f"zero.{how.zero}", np.array(how.zero, np.uint8))
        step = graph.node("Mul", largest, graph.number(1 / (255 - how.zero)))
        step = graph.node("Max", step, graph.number(how.smallest_step))
        zeros = graph.node("Expand", zero, graph.node("Shape", step))
        numbers = graph.node("QuantizeLinear", value, step, zeros, axis=0)
        steps = graph.node("Unsqueeze", step, graph.numbers(1))
        products = []
        for name, linear in layers.items():
            sums = self._product(graph, name, numbers, graph.number(1.0), zero)
            bias = graph.constant(f"{name}.bias", linear.bias)
            products.append(graph.node("Add", graph.node("Mul", sums, steps), bias))
        return products

    def _product(self, graph: GraphWriter, name: str, numbers: str, step: str, zero: str, bias: str = "") -> str:
        table = self.weights.tables[name]
        return graph.node(
            "MatMulIntegerToFloat",
            numbers,
            graph.constant(f"{name}.numbers", table.numbers),
            step,
            graph.constant(f"{name}.scales", table.scales),
            zero,
            "",  # weights have no zero point
            bias,
            own=True,
        )


class Dequantised(Int8):
    """The same bytes, dequantised when the graph is loaded: slower, but correct on every processor."""

    def linear(self, graph: GraphWriter, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        smoothing = self.weights.sites[site].smoothing
        products = []
        for name, linear in layers.items():
            table = self.weights.tables[name]
            numbers = graph.cast(graph.constant(f"{name}.numbers", table.numbers), np.float32)
            weight = graph.node("Mul", numbers, graph.constant(f"{name}.scales", table.scales))
            if smoothing is not None:
                column = graph.node("Unsqueeze", graph.constant(f"{site}.smoothing", 1 / smoothing), graph.numbers(1))
                weight = graph.node("Mul", weight, column)
            products.append(graph.node("Gemm", value, weight, graph.constant(f"{name}.bias", linear.bias)))
        return products


Arithmetic = Plain | Int8
