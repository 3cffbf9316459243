"""Writing ONNX graphs node by node, their weights in one file that several graphs share."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.extras import require
from emoscope.core.files import atomic_write

Inputs = dict[str, tuple[type[np.generic], list[str | int]]]

# Operators of onnxruntime itself, which every build for CPUs has.
MICROSOFT = "com.microsoft"
OPSET, IR_VERSION = 17, 8
_INLINE_BYTES = 256
_ALIGNMENT = 64


class WeightFile:
    """A file of arrays, to which graphs refer by offset."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._arrays: dict[bytes, tuple[int, NDArray[Any]]] = {}  # by their hashes, with their offsets
        self._end = 0

    def tensor(self, name: str, array: NDArray[Any]) -> Any:
        """An array as a graph's constant; equal arrays are stored once."""
        onnx = require("onnx", extra="train")
        array = np.ascontiguousarray(array)
        if array.nbytes <= _INLINE_BYTES:
            return onnx.numpy_helper.from_array(array, name)
        key = hashlib.sha256(array.data).digest()
        if key not in self._arrays:
            self._arrays[key] = self._end, array
            self._end += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
        kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        place = {"location": self.file, "offset": self._arrays[key][0], "length": array.nbytes}
        external = [onnx.StringStringEntryProto(key=key, value=str(value)) for key, value in place.items()]
        where = onnx.TensorProto.EXTERNAL
        return onnx.TensorProto(
            name=name, data_type=kind, dims=array.shape, external_data=external, data_location=where
        )

    def save(self, folder: Path) -> None:
        """Write the file."""
        with atomic_write(folder / self.file, "wb") as handle:
            for place, array in self._arrays.values():
                handle.write(b"\0" * (place - handle.tell()))
                handle.write(array.tobytes())


class GraphWriter:
    """Builds a graph: each call adds a node or a constant and returns its name."""

    def __init__(self, weights: WeightFile) -> None:
        self._onnx = require("onnx", extra="train")
        self._weights = weights
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """A constant; graphs with the same weight file share equal ones."""
        if name not in self._constants:
            self._constants[name] = self._weights.tensor(name, value)
        return name

    def numbers(self, *values: int) -> str:
        """A list of integers, for shapes and axes."""
        return self.constant("numbers." + ".".join(map(str, values)), np.array(values, np.int64))

    def number(self, value: float) -> str:
        """One number."""
        return self.constant(f"number.{value!r}", np.array(value, np.float32))

    def node(self, kind: str, *inputs: str, own: bool = False, name: str | None = None, **attributes: Any) -> str:
        """A node with one output; `own` selects onnxruntime's operator set."""
        output = name or f"{kind}.{len(self._nodes)}"
        attributes |= {"name": output, "domain": MICROSOFT if own else ""}
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    def cast(self, value: str, kind: type[np.generic]) -> str:
        """A value converted to another type."""
        return self.node("Cast", value, to=self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def model(self, inputs: Inputs, outputs: list[str]) -> bytes:
        """The graph as the content of an `.onnx` file."""
        helper = self._onnx.helper
        given = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
            for name, (kind, shape) in inputs.items()
        ]
        results = [self._onnx.ValueInfoProto(name=name) for name in outputs]
        graph = helper.make_graph(self._nodes, "encoder", given, results, list(self._constants.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="emoscope")
        return bytes(model.SerializeToString())
