"""The constants and nodes of an exported graph, read from its `.onnx` file without the onnx package."""

import struct
from collections import defaultdict
from dataclasses import dataclass
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
_KEY, _VALUE = 1, 2
_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 10: np.float16, 11: np.float64}


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    encoded: tuple[memoryview, ...]  # its attributes, most of which are never read

    def number(self, name: str) -> float:
        """An attribute that is a floating-point number."""
        attributes = {_text(each[_ATTRIBUTE_NAME][0]): each for each in map(_fields, self.encoded)}
        return float(struct.unpack("<f", attributes[name][_ATTRIBUTE_FLOAT][0])[0])


@dataclass(frozen=True, slots=True)
class GraphFile:
    """The nodes of an exported graph and its constants by name; large constants are memory-mapped."""

    nodes: list[Node]
    constants: dict[str, NDArray[Any]]

    @classmethod
    def read(cls, path: Path) -> "GraphFile":
        """Read a graph that `models/export` wrote."""
        (content,) = _fields(memoryview(path.read_bytes()))[_MODEL_GRAPH]
        graph = _fields(content)
        files: dict[str, NDArray[np.uint8]] = {}
        constants = dict(_constant(_fields(each), path.parent, files) for each in graph[_GRAPH_CONSTANT])
        return cls([_node(_fields(each)) for each in graph[_GRAPH_NODE]], constants)


Fields = defaultdict[int, list[Any]]  # the values of a protobuf message's fields, by number


def _node(fields: Fields) -> Node:
    inputs, (output,), (kind,) = (map(_text, fields[number]) for number in (_NODE_INPUT, _NODE_OUTPUT, _NODE_KIND))
    return Node(kind, tuple(inputs), output, tuple(fields[_NODE_ATTRIBUTE]))


def _constant(fields: Fields, folder: Path, files: dict[str, NDArray[np.uint8]]) -> tuple[str, NDArray[Any]]:
    pairs = map(_fields, fields[_TENSOR_EXTERNAL])
    place = {_text(pair[_KEY][0]): _text(pair[_VALUE][0]) for pair in pairs}
    content: Any = fields[_TENSOR_BYTES]
    if place:
        file, first = place["location"], int(place["offset"])
        if file not in files:
            files[file] = np.memmap(folder / file, np.uint8, "r")
        content = [files[file][first : first + int(place["length"])]]
    values = np.frombuffer(content[0], _TYPES[fields[_TENSOR_TYPE][0]])
    return _text(fields[_TENSOR_NAME][0]), values.reshape(fields[_TENSOR_SHAPE])


def _text(content: memoryview) -> str:
    return str(content, "utf-8")


def _fields(content: memoryview) -> Fields:
    """The fields of a protobuf message: whole numbers as integers, all else as bytes."""
    fields: Fields = defaultdict(list)
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        if key & 7 == 0:
            value, place = _varint(content, place)
            fields[key >> 3].append(value)
            continue
        size = 4 if key & 7 == 5 else 8
        if key & 7 == 2:
            size, place = _varint(content, place)
        fields[key >> 3].append(content[place : place + size])
        place += size
    return fields


def _varint(content: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
