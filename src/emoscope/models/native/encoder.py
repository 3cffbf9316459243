"""An exported 8-bit encoder computed by `encoder.c`, if that is compiled and the processor supports it."""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.models.native.graph_file import GraphFile
from emoscope.models.native.library import fields, library
from emoscope.models.onnx.layout import Layout
from emoscope.models.text.window import TokenRow

# The sizes encoder.c supports: a multiple of columns, sizes of attention heads, and the largest layer after pooling.
PANEL, HEAD_SIZES, LARGEST = 64, (32, 64), 4096
FIRST, ALL, LABELLED, MASKED_OR_ALL, MASKED_OR_LABELLED = range(5)
POOLED = {
    "cls": (FIRST,),
    "mean": (ALL,),
    "mask": (MASKED_OR_ALL,),
    "last-turn": (LABELLED,),
    "mean+focus": (ALL, MASKED_OR_LABELLED),
}
# A layer's linear layers in encoder.c: the site of their input, and their parts in the graph.
SITES = {
    "three": ("attention", "query", "key", "value"),
    "output": ("output", "output"),
    "wide": ("wide", "wide"),
    "narrow": ("narrow", "narrow"),
}
NO_SEGMENTS, LABELLED_SEGMENT, OTHERS_SEGMENT = range(3)


class _Linear(ctypes.Structure):
    _fields_ = fields(ctypes.c_void_p, "packed first scales bias") + fields(ctypes.c_int32, "inputs outputs")


class _Site(ctypes.Structure):
    _fields_ = (("factors", ctypes.c_void_p), ("smallest_step", ctypes.c_float), ("zero", ctypes.c_int32))


class _Norm(ctypes.Structure):
    _fields_ = fields(ctypes.c_void_p, "weight bias")


class _Layer(ctypes.Structure):
    _fields_ = fields(_Linear, "three output wide narrow")
    _fields_ += fields(_Site, "three_site output_site wide_site narrow_site")
    _fields_ += fields(_Norm, "output_norm narrow_norm")


class _Dense(ctypes.Structure):
    _fields_ = fields(ctypes.c_void_p, "weight bias") + fields(ctypes.c_int32, "inputs outputs")


class _Encoder(ctypes.Structure):
    _fields_ = (
        *fields(ctypes.c_void_p, "pieces piece_scales positions second"),
        ("norm", _Norm),
        ("layers", ctypes.POINTER(_Layer)),
        ("head", ctypes.POINTER(_Dense)),
        *fields(ctypes.c_int32, "width inner heads layer_count head_count relu vectors"),
        ("pooled", ctypes.c_int32 * 2),
        *fields(ctypes.c_int32, "segments mask"),
        ("epsilon", ctypes.c_float),
    )


class UnsupportedGraphError(Exception):
    """A graph or machine that encoder.c does not support; onnxruntime is used instead."""


class NativeEncoder:
    """Scores of rows of tokens of any length, without padding; safe to use from many threads."""

    def __init__(self, path: Path, layout: Layout) -> None:
        """Read the weights of `int8.onnx`, or raise `UnsupportedGraphError`."""
        kernels = library()
        if kernels is None or not kernels.emoscope_supported():
            raise UnsupportedGraphError("encoder.c is not compiled, or this processor does not support it")
        self._library = kernels
        self._kept: list[Any] = []  # the arrays that the structures point to
        self._graph = GraphFile.read(path)
        self._node_of = {node.output: node for node in self._graph.nodes}
        self._products = {node.inputs[1]: node for node in self._graph.nodes if node.kind == "MatMulIntegerToFloat"}
        self._encoder = self._read(layout)
        self._at = ctypes.addressof(self._encoder)
        self._outputs = int(self._encoder.head[self._encoder.head_count - 1].outputs)

    def scores(self, rows: Sequence[TokenRow]) -> NDArray[np.float64]:
        """The scores of each row."""
        token_ids = np.concatenate([row.token_ids for row in rows], dtype=np.int32)
        starts = np.zeros(len(rows) + 1, np.int32)
        np.cumsum([len(row.token_ids) for row in rows], out=starts[1:])
        labelled = np.array([(row.first, row.last) for row in rows], np.int32)
        scores = np.empty((len(rows), self._outputs))
        pointers = (array.ctypes.data for array in (token_ids, starts, labelled))
        if self._library.emoscope_run(self._at, *pointers, len(rows), scores.ctypes.data):
            raise MemoryError
        return scores

    # Reading

    def _read(self, layout: Layout) -> _Encoder:
        constants, nodes = self._graph.constants, self._graph.nodes
        if "0.query.numbers" not in constants or "relative" in constants or layout.pooling not in POOLED:
            raise UnsupportedGraphError("not an 8-bit encoder that encoder.c can compute")
        if len(constants["positions"]) < layout.window.length:
            raise UnsupportedGraphError("rows may be longer than its positions")
        if sum(node.kind == "Cast" for node in nodes) != 2:  # a frozen encoder's vectors have half precision
            raise UnsupportedGraphError("half-precision vectors")
        width, inner = constants["0.wide.numbers"].shape
        pooled = POOLED[layout.pooling]
        heads = next(int(each[0]) for each in constants.values() if each.shape == (2,) and each[0] * each[1] == width)
        head = [self._dense(number) for number in range(sum(name.startswith("head.") for name in constants) // 2)]
        sizes = [each.inputs for each in head] + [head[-1].outputs]
        if width % PANEL or inner % PANEL or width // heads not in HEAD_SIZES or max(sizes) > LARGEST:
            raise UnsupportedGraphError(f"sizes that encoder.c does not support: {width} and {inner}, {heads} heads")
        layers = [self._layer(number) for number in range(sum(name.endswith(".query.numbers") for name in constants))]
        segments = OTHERS_SEGMENT if layout.window.reverse else LABELLED_SEGMENT
        return _Encoder(
            pieces=self._place(constants["pieces.numbers"]),
            piece_scales=self._place(constants["pieces.scales"]),
            positions=self._place(constants["positions"]),
            second=self._place(constants["segments.second"]) if layout.segments else None,
            norm=self._norm("norm"),
            layers=(_Layer * len(layers))(*layers),
            head=(_Dense * len(head))(*head),
            width=width,
            inner=inner,
            heads=heads,
            layer_count=len(layers),
            head_count=len(head),
            relu=any(node.kind == "Relu" for node in nodes),
            vectors=len(pooled),
            pooled=(ctypes.c_int32 * 2)(*pooled),
            segments=segments if layout.segments else NO_SEGMENTS,
            mask=layout.special["mask"],
            epsilon=next(node.number("epsilon") for node in nodes if node.kind == "LayerNormalization"),
        )

    def _layer(self, number: int) -> _Layer:
        parts_of: dict[str, ctypes.Structure] = {
            name: self._norm(f"{number}.{name}") for name in ("output_norm", "narrow_norm")
        }
        for name, (site, *parts) in SITES.items():
            parts_of[name], parts_of[f"{name}_site"] = self._linear(number, site, *parts)
        return _Layer(**parts_of)

    def _linear(self, number: int, site: str, *parts: str) -> tuple[_Linear, _Site]:
        """Linear layers with the same input as one layer, and how that input is quantised."""
        constants = self._graph.constants
        numbers, scales, bias = (
            np.concatenate([constants[f"{number}.{part}.{kind}"] for part in parts], axis=-1)
            for kind in ("numbers", "scales", "bias")
        )
        product = self._products[f"{number}.{parts[0]}.numbers"]
        zero = int(constants[product.inputs[4]].item())
        step = constants.get(f"{number}.{site}.step")
        if (step is None) != (site == "narrow"):
            raise UnsupportedGraphError(f"steps of {number}.{site}")
        inputs, outputs = numbers.shape
        if step is None:
            # The Max node of the row's own step and the smallest step.
            largest = self._node_of[self._node_of[product.inputs[0]].inputs[1]]
            how = _Site(smallest_step=float(constants[largest.inputs[1]].item()), zero=zero)
        else:
            scales = scales * step
            smoothing = constants.get(f"{number}.{site}.smoothing", np.float32(1))
            how = _Site(factors=self._place(np.broadcast_to(smoothing / step, inputs)), zero=zero)
        memory = np.empty(inputs * outputs + 64, np.int8)
        packed = memory[-memory.ctypes.data % 64 :][: inputs * outputs]
        first = np.empty(outputs, np.int32)
        plain = np.ascontiguousarray(numbers)
        self._library.emoscope_pack(plain.ctypes.data, inputs, outputs, zero, packed.ctypes.data, first.ctypes.data)
        linear = _Linear(
            packed=self._place(packed),
            first=self._place(first),
            scales=self._place(scales),
            bias=self._place(bias),
            inputs=inputs,
            outputs=outputs,
        )
        return linear, how

    def _norm(self, name: str) -> _Norm:
        parts = (self._graph.constants[f"{name}.{part}"] for part in ("weight", "bias"))
        return _Norm(*(self._place(part) for part in parts))

    def _dense(self, number: int) -> _Dense:
        weight, bias = (self._graph.constants[f"head.{number}.{part}"] for part in ("weight", "bias"))
        return _Dense(self._place(weight), self._place(bias), *weight.shape)

    def _place(self, array: NDArray[Any]) -> int:
        """The address of an array, which is kept alive."""
        kept = np.ascontiguousarray(array)
        self._kept.append(kept)
        return int(kept.ctypes.data)
