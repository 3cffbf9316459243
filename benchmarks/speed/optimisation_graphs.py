"""The network of `default` with random weights, its graph written in other ways."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.speed.worker import SMALL
from emoscope.models.export.architecture import Architecture, Layer, Linear
from emoscope.models.export.arithmetic import ByteTable, ByteWeights, Int8, Site
from emoscope.models.export.graph import EncoderGraph
from emoscope.models.export.writer import GraphWriter, WeightFile
from emoscope.models.onnx.description import INT8, WEIGHTS
from emoscope.models.onnx.layout import Layout
from emoscope.models.onnx.session import Run, open_graph

HIDDEN, INNER, LAYERS = SMALL["hidden_size"], SMALL["intermediate_size"], SMALL["num_hidden_layers"]
VOCABULARY, OUTPUTS, PLACES = 4096, 21, 96
PARTS = {"query": "attention", "key": "attention", "value": "attention", "output": "output", "wide": "wide"}


def random_architecture(*, layers: int = LAYERS, inner: int = INNER, activation: str = "gelu") -> Architecture:
    """An encoder of the size of `default`, or of another."""
    draw = np.random.default_rng(0)

    def linear(inputs: int, outputs: int) -> Linear:
        weight = draw.normal(0, inputs**-0.5, (inputs, outputs)).astype(np.float32)
        return Linear(weight, draw.normal(0, 0.1, outputs).astype(np.float32))

    norm = Linear(np.ones(HIDDEN, np.float32), np.zeros(HIDDEN, np.float32))
    made = [
        Layer(
            query=linear(HIDDEN, HIDDEN),
            key=linear(HIDDEN, HIDDEN),
            value=linear(HIDDEN, HIDDEN),
            output=linear(HIDDEN, HIDDEN),
            output_norm=norm,
            wide=linear(HIDDEN, inner),
            narrow=linear(inner, HIDDEN),
            narrow_norm=norm,
        )
        for _ in range(layers)
    ]
    return Architecture(
        pieces=draw.normal(0, 1, (VOCABULARY, HIDDEN)).astype(np.float32),
        positions=draw.normal(0, 1, (PLACES, HIDDEN)).astype(np.float32),
        segments=np.ones(HIDDEN, np.float32),
        norm=norm,
        layers=tuple(made),
        heads=SMALL["num_attention_heads"],
        epsilon=1e-12,
        activation=activation,
    )


def byte_weights(architecture: Architecture, *, smooth: bool = True, fixed: bool = False) -> ByteWeights:
    """Its weights as bytes, rounded as `default`'s are; with `fixed`, the widest layer's input too has one step."""

    def table(weight: np.ndarray) -> ByteTable:
        scales = (np.abs(weight).max(0) / 127).astype(np.float32)
        return ByteTable(np.rint(weight / scales).astype(np.int8), scales)

    smoothing = np.full(HIDDEN, 1.1, np.float32) if smooth else None
    sites, tables = {}, {}
    for number, layer in enumerate(architecture.layers):
        for part in (*PARTS, "narrow"):
            tables[f"{number}.{part}"] = table(getattr(layer, part).weight)
        for site in ("attention", "output", "wide"):
            sites[f"{number}.{site}"] = Site(128, 0.05, None if site == "output" else smoothing)
        sites[f"{number}.narrow"] = Site(16, 0.02) if fixed else Site(16, smallest_step=0.01)
    rows = ByteTable(
        np.rint(architecture.pieces * 20).clip(-127, 127).astype(np.int8), np.full((VOCABULARY, 1), 0.05, np.float32)
    )
    return ByteWeights(rows, sites, tables)


class QuantisedFirst(EncoderGraph):
    """Attention's answer becomes bytes before it is put in order, so that fewer bytes are moved."""

    def _as_table(self, value: str) -> str:
        if not value.startswith("Transpose"):
            return super()._as_table(value)
        return value

    def _linear(self, number: int, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        if site != "output":
            return super()._linear(number, site, value, layers)
        graph, arithmetic, name = self.graph, self.arithmetic, f"{number}.output"
        assert isinstance(arithmetic, Int8)
        transposed = graph._nodes.pop()
        step, zero = graph.number(0.05), graph.constant("zero.128", np.array(128, np.uint8))
        numbers = graph.node("QuantizeLinear", transposed.input[0], step, zero)
        ordered = EncoderGraph._as_table(self, graph.node("Transpose", numbers, perm=[2, 0, 1, 3]))
        bias = graph.constant(f"{name}.bias", layers["output"].bias)
        return [arithmetic._product(graph, name, ordered, step, zero, bias)]


class OneProduct(EncoderGraph):
    """Queries, keys and values from one product, and cut apart."""

    def _linear(self, number: int, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        if site != "attention":
            return super()._linear(number, site, value, layers)
        assert isinstance(self.arithmetic, Int8)
        weights = self.arithmetic.weights
        three = [weights.tables[f"{number}.{part}"] for part in layers]
        joined = ByteTable(np.concatenate([t.numbers for t in three], 1), np.concatenate([t.scales for t in three]))
        arithmetic = Int8(replace(weights, tables={f"{number}.three": joined}))
        bias = np.concatenate([linear.bias for linear in layers.values()])
        linear = Linear(np.zeros((0, 0), np.float32), bias)
        (made,) = arithmetic.linear(self.graph, f"{number}.attention", value, {f"{number}.three": linear})
        graph, width = self.graph, self.architecture.width
        borders = [graph.numbers(place * width) for place in range(4)]
        return [graph.node("Slice", made, first, last, graph.numbers(1)) for first, last in pairwise(borders)]


class OwnAttention(EncoderGraph):
    """onnxruntime's own node for attention. It reads dialogue by dialogue, so what it computes here has no meaning."""

    def _attention(self, query: str, key: str, value: str) -> str:
        graph = self.graph
        places, rows = (graph.node("Slice", self._shape, graph.numbers(n), graph.numbers(n + 1)) for n in (0, 1))
        shape = graph.node("Concat", rows, places, graph.numbers(self.architecture.width), axis=0)
        query, key, value = (graph.node("Reshape", each, shape) for each in (query, key, value))
        answer = graph.node("MultiHeadAttention", query, key, value, own=True, num_heads=self.architecture.heads)
        return self._as_table(answer)


class SkipNorm(EncoderGraph):
    """Adding and normalising in one node."""

    def _added(self, name: str, value: str, change: str, norm: Linear) -> str:
        graph = self.graph
        weight, bias = graph.constant(f"{name}.weight", norm.weight), graph.constant(f"{name}.bias", norm.bias)
        return graph.node("SkipLayerNormalization", change, value, weight, bias, own=True, epsilon=1e-12)


class FastGelu(EncoderGraph):
    """The activation by way of tanh."""

    def _active(self, value: str) -> str:
        return self.graph.node("FastGelu", value, own=True)


class QuickGelu(EncoderGraph):
    """The activation by way of the logistic function."""

    def _active(self, value: str) -> str:
        return self.graph.node("QuickGelu", value, own=True, alpha=1.702)


class NoBias(Int8):
    """The widest layer's bias left out here, as it could be moved into the layers before."""

    def by_row(
        self, graph: GraphWriter, how: Site, value: str, largest: str, layers: Mapping[str, Linear]
    ) -> list[str]:
        """As it is, without the last node."""
        super().by_row(graph, how, value, largest, layers)
        return [str(graph._nodes.pop().input[0])]


def variants() -> dict[str, tuple[Architecture, Int8, type[EncoderGraph]]]:
    """The graph as it is, first, and every other that was tried."""
    own = random_architecture()
    bytes_ = Int8(byte_weights(own))

    def smaller(**sizes: int) -> tuple[Architecture, Int8, type[EncoderGraph]]:
        architecture = random_architecture(**sizes)  # type: ignore[arg-type]
        return architecture, Int8(byte_weights(architecture)), EncoderGraph

    return {
        "as it is": (own, bytes_, EncoderGraph),
        "queries, keys and values as one product": (own, bytes_, OneProduct),
        "attention as one node (MultiHeadAttention)": (own, bytes_, OwnAttention),
        "attention's answer as bytes before it is put in order": (own, bytes_, QuantisedFirst),
        "adding and normalising as one node (SkipLayerNormalization)": (own, bytes_, SkipNorm),
        "GELU by tanh (FastGelu)": (own, bytes_, FastGelu),
        "GELU by the logistic function (QuickGelu)": (own, bytes_, QuickGelu),
        "the widest layer's bias moved into the layers before": (own, NoBias(bytes_.weights), EncoderGraph),
        "outliers not moved into the weights": (own, Int8(byte_weights(own, smooth=False)), EncoderGraph),
        "a fixed step for the widest layer too": (own, Int8(byte_weights(own, fixed=True)), EncoderGraph),
        "ReLU, not GELU": (replace(own, activation="relu"), bytes_, EncoderGraph),
        "a middle of 1,536, as its encoder had": smaller(inner=1536),
        "a middle of 768": smaller(inner=768),
        "four layers": smaller(layers=4),
        "three layers": smaller(layers=3),
    }


def write(folder: Path, layout: Layout, architecture: Architecture, arithmetic: Int8, kind: type[EncoderGraph]) -> Path:
    """Write a graph's files; the path of the graph."""
    folder.mkdir(parents=True)
    weights = WeightFile(WEIGHTS)
    head = [Linear(np.ones((HIDDEN * layout.vectors, OUTPUTS), np.float32), np.zeros(OUTPUTS, np.float32))]
    graph = kind(architecture, arithmetic, GraphWriter(weights), layout.segments, layout=layout, rounded=False)
    path = folder / INT8
    path.write_bytes(graph.write(head))
    weights.save(folder)
    return path


def opened(folder: Path, layout: Layout) -> dict[str, Run]:
    """All variants, ready to run."""
    return {
        name: open_graph(write(folder / str(number), layout, *variant))
        for number, (name, variant) in enumerate(variants().items())
    }
