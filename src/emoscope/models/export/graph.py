"""An encoder, its pooling and its head as one ONNX graph, in which each node is one fast kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from emoscope.models.export.architecture import SITES, Architecture, Layer, Linear
from emoscope.models.export.arithmetic import Arithmetic
from emoscope.models.export.writer import GraphWriter, Inputs
from emoscope.models.onnx.layout import Layout

SCORES = "scores"


@dataclass
class EncoderLayers:
    """An encoder. All tokens of a batch are rows of one table, by position; only attention separates dialogues."""

    architecture: Architecture
    arithmetic: Arithmetic
    graph: GraphWriter
    segments: bool = False
    sites: dict[str, str] = field(default_factory=dict)  # the inputs at each site of each layer

    def layers(self) -> list[str]:
        """Add the encoder; the outputs of its embeddings and of each layer."""
        graph = self.graph
        self._shape = graph.node("Shape", "pieces")
        self._places = graph.node("Slice", self._shape, graph.numbers(0), graph.numbers(1))
        heads = graph.numbers(self.architecture.heads, self.architecture.width // self.architecture.heads)
        self._by_head = graph.node("Concat", self._shape, heads, axis=0)
        values = [self._embedded()]
        for number, layer in enumerate(self.architecture.layers):
            values.append(self._layer(values[-1], number, layer))
        return values

    def _embedded(self) -> str:
        graph, architecture = self.graph, self.architecture
        positions = graph.constant("positions", architecture.positions[:, None])
        used = graph.node("Slice", positions, graph.numbers(0), self._places, graph.numbers(0))
        value = graph.node("Add", self.arithmetic.embed(graph, "pieces"), used)
        if self.segments:
            assert architecture.segments is not None
            second = graph.node("Unsqueeze", "segments", graph.numbers(2))
            vector = graph.constant("segments.second", architecture.segments[None, None])
            value = graph.node("Add", value, graph.node("Mul", second, vector))
        return self._norm("norm", self._as_table(value), architecture.norm)

    def _layer(self, value: str, number: int, layer: Layer) -> str:
        three = {"query": layer.query, "key": layer.key, "value": layer.value}
        answer = self._attention(*self._linear(number, "attention", value, three))
        (output,) = self._linear(number, "output", answer, {"output": layer.output})
        value = self._added(f"{number}.output_norm", value, output, layer.output_norm)
        (wide,) = self._linear(number, "wide", value, {"wide": layer.wide})
        (narrow,) = self._linear(number, "narrow", self._active(wide), {"narrow": layer.narrow})
        return self._added(f"{number}.narrow_norm", value, narrow, layer.narrow_norm)

    def _active(self, value: str) -> str:
        relu = self.architecture.activation == "relu"
        return self.graph.node("Relu", value) if relu else self.graph.node("Gelu", value, own=True)

    def _added(self, name: str, value: str, change: str, norm: Linear) -> str:
        return self._norm(name, self.graph.node("Add", value, change), norm)

    def _linear(self, number: int, site: str, value: str, layers: Mapping[str, Linear]) -> list[str]:
        name = f"{number}.{site}"
        self.sites[name] = value
        named = {f"{number}.{part}": linear for part, linear in layers.items()}
        return self.arithmetic.linear(self.graph, name, value, named)

    def _attention(self, query: str, key: str, value: str) -> str:
        """Tables are read in place as (positions, rows, heads, size); only the output is transposed."""
        graph = self.graph
        size = self.architecture.width // self.architecture.heads
        query, key, value = (graph.node("Reshape", each, self._by_head) for each in (query, key, value))
        match = graph.node(
            "FusedMatMul", query, key, own=True, transB=1, transBatchA=1, transBatchB=1, alpha=float(size**-0.5)
        )
        if self.architecture.relative is not None:
            bias = graph.constant("relative", self.architecture.relative)
            square = graph.node("Concat", self._places, self._places, axis=0)
            used = graph.node("Slice", bias, graph.numbers(0, 0), square, graph.numbers(1, 2))
            match = graph.node("Add", match, used)
        attention = graph.node("Softmax", match, axis=-1)
        answer = graph.node("FusedMatMul", attention, value, own=True, transBatchB=1)
        return self._as_table(graph.node("Transpose", answer, perm=[2, 0, 1, 3]))

    def _as_table(self, value: str) -> str:
        return self.graph.node("Reshape", value, self.graph.numbers(-1, self.architecture.width))

    def _norm(self, name: str, value: str, norm: Linear) -> str:
        graph = self.graph
        weight = graph.constant(f"{name}.weight", norm.weight)
        bias = graph.constant(f"{name}.bias", norm.bias)
        return graph.node("LayerNormalization", value, weight, bias, axis=-1, epsilon=self.architecture.epsilon)


@dataclass(kw_only=True)
class EncoderGraph(EncoderLayers):
    """The whole graph of a network: an encoder, pooling and head.

    `rounded` rounds vectors to half precision, like those of the frozen encoder that the head was trained on.
    """

    layout: Layout
    rounded: bool

    def write(self, head: Sequence[Linear], probed_layer: int | None = None) -> bytes:
        """The content of the `.onnx` file, with the scores as output.

        The inputs at the probed layer's sites are further outputs, in the order of `SITES`.
        """
        self._head(self._pooled(self.layers()[-1]), head)
        probed = [] if probed_layer is None else [self.sites[f"{probed_layer}.{site}"] for site in SITES]
        inputs: Inputs = {
            "pieces": (np.int32, ["places", "rows"]),
            "pooling": (np.float32, ["rows", self.layout.vectors, "places"]),
        }
        if self.layout.segments:
            inputs["segments"] = (np.float32, ["places", "rows"])
        return self.graph.model(inputs, [SCORES, *probed])

    def _pooled(self, value: str) -> str:
        graph, width = self.graph, self.architecture.width
        shape = graph.node("Concat", self._shape, graph.numbers(width), axis=0)
        vectors = graph.node("Reshape", self._as_rounded(value), shape)
        if self.layout.takes_maximum:
            by_row = graph.node("Transpose", vectors, perm=[1, 0, 2])
            places = graph.node("Transpose", "pooling", perm=[0, 2, 1])
            pooled = graph.node("ReduceMax", graph.node("Add", by_row, places), axes=[1], keepdims=0)
        else:
            joined = graph.node("FusedMatMul", "pooling", vectors, own=True, transBatchB=1)
            pooled = graph.node("Reshape", joined, graph.numbers(-1, self.layout.vectors * width))
        return self._as_rounded(pooled)

    def _as_rounded(self, value: str) -> str:
        return self.graph.cast(self.graph.cast(value, np.float16), np.float32) if self.rounded else value

    def _head(self, value: str, head: Sequence[Linear]) -> None:
        """In double precision, so that the order of summation, which depends on the batch, does not matter."""
        graph = self.graph
        value = graph.cast(value, np.float64)
        for number, linear in enumerate(head):
            weight = graph.constant(f"head.{number}.weight", linear.weight.astype(np.float64))
            bias = graph.constant(f"head.{number}.bias", linear.bias.astype(np.float64))
            last = number == len(head) - 1
            value = graph.node("Add", graph.node("MatMul", value, weight), bias, name=SCORES if last else None)
            if not last:
                value = graph.node("Tanh", value)
