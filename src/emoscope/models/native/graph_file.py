"""The constants and nodes of an exported graph, read from its `.onnx` file without the onnx package."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Numbers of fields in onnx.proto.
_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_CONSTANT = 1, 5
_NODE_INPUT, _NODE_OUTPUT, _NODE_KIND, _NODE_ATTRIBUTE = 1, 2, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_FLOAT = 1, 2
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_BYTES, _TENSOR_EXTERNAL = 1, 2, 8, 9, 13
_TYPES: dict[int, type[np.generic]] = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    6: np.int32,
    7: np.int64,
    10: np.float16,
    11: np.float64,
}


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    encoded: tuple[memoryview, ...]  # its attributes, most of which are never read

    def number(self, name: str) -> float:
        """An attribute that is a floating-point number."""
        for content in self.encoded:
            fields = dict(_fields(content))
            if fields[_ATTRIBUTE_NAME] == name.encode():
                (value,) = struct.unpack("<f", struct.pack("<I", fields[_ATTRIBUTE_FLOAT]))
                return float(value)
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class GraphFile:
    """The nodes of an exported graph and its constants by name; large constants are memory-mapped."""

    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "GraphFile":
        """Read a graph that `models/export` wrote."""
        graph_file = cls()
        files: dict[str, NDArray[np.uint8]] = {}
        for _, graph in (each for each in _fields(memoryview(path.read_bytes())) if each[0] == _MODEL_GRAPH):
            for number, content in _fields(graph):
                if number == _GRAPH_NODE:
                    graph_file.nodes.append(_node(content))
                elif number == _GRAPH_CONSTANT:
                    name, value = _constant(content, path.parent, files)
                    graph_file.constants[name] = value
        return graph_file


def _node(content: memoryview) -> Node:
    inputs, outputs, kind, encoded = [], [], "", []
    for number, value in _fields(content):
        if number == _NODE_INPUT:
            inputs.append(str(value, "utf-8"))
        elif number == _NODE_OUTPUT:
            outputs.append(str(value, "utf-8"))
        elif number == _NODE_KIND:
            kind = str(value, "utf-8")
        elif number == _NODE_ATTRIBUTE:
            encoded.append(value)
    return Node(kind, tuple(inputs), outputs[0], tuple(encoded))


def _constant(content: memoryview, folder: Path, files: dict[str, NDArray[np.uint8]]) -> tuple[str, NDArray[Any]]:
    shape: list[int] = []
    kind: type[np.generic] = np.float32
    name, raw, place = "", memoryview(b""), {}
    for number, value in _fields(content):
        if number == _TENSOR_SHAPE:
            shape += [value] if isinstance(value, int) else list(_varints(value))
        elif number == _TENSOR_TYPE:
            kind = _TYPES[value]
        elif number == _TENSOR_NAME:
            name = str(value, "utf-8")
        elif number == _TENSOR_BYTES:
            raw = value
        elif number == _TENSOR_EXTERNAL:
            key, text = (str(part, "utf-8") for _, part in _fields(value))
            place[key] = text
    if place:
        file = place["location"]
        if file not in files:
            files[file] = np.memmap(folder / file, np.uint8, "r")
        first = int(place["offset"])
        return name, files[file][first : first + int(place["length"])].view(kind).reshape(shape)
    return name, np.frombuffer(raw, kind).reshape(shape)


def _fields(content: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: numbers as integers, all else as bytes."""
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        if key & 7 == 0:
            value, place = _varint(content, place)
            yield key >> 3, value
        elif key & 7 == 2:
            size, place = _varint(content, place)
            yield key >> 3, content[place : place + size]
            place += size
        else:
            size = 4 if key & 7 == 5 else 8
            yield key >> 3, int.from_bytes(content[place : place + size], "little")
            place += size


def _varints(content: memoryview) -> Iterator[int]:
    place = 0
    while place < len(content):
        value, place = _varint(content, place)
        yield value


def _varint(content: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
