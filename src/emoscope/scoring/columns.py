"""The columns that are passed through: one type each for the whole output, whatever the inputs are."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require

MAX_COLUMNS = 1000
_EXACT = 1 << 53  # whole numbers beyond it are not exact as floats
_LARGEST = 1 << 63
_SIMPLE = {type(None): "null", bool: "bool", float: "float", str: "string"}

Kinds = dict[str, set[str]]  # of each column, what its values were seen to be
Schema = Any  # pyarrow's


def value_kind(value: object) -> str:
    """What a JSON value is, as far as a column's type depends on it.

    >>> [value_kind(value) for value in (1, 1.5, "a", ["a"], {"b": 1}, None)]
    ['int', 'float', 'string', 'strings', 'json', 'null']
    """
    if type(value) is int:
        return "int" if abs(value) <= _EXACT else "large" if -_LARGEST <= value < _LARGEST else "json"
    if isinstance(value, list):
        return "strings" if all(item is None or isinstance(item, str) for item in value) else "json"
    return _SIMPLE.get(type(value), "json")


def merge_kinds(into: Kinds, found: Mapping[str, Iterable[str]]) -> None:
    """Add what was seen in one place to what was seen in others, columns in the order they were met."""
    for name, kinds in found.items():
        into.setdefault(name, set()).update(kinds)
    if len(into) > MAX_COLUMNS:
        raise EmoscopeError(f"the JSON rows have more than {MAX_COLUMNS:,} different keys; expected columns")


def json_schema(kinds: Mapping[str, Iterable[str]]) -> Schema:
    """The schema of JSON rows; a column of values that no one type holds becomes JSON text.

    >>> json_schema({"id": ["int"], "extra": ["int", "string"], "turns": ["strings"]}).types
    [DataType(int64), DataType(string), ListType(list<item: string>)]
    """
    pa = require("pyarrow", extra="scale")
    types = {
        frozenset[str](): pa.null(),
        frozenset({"bool"}): pa.bool_(),
        frozenset({"int"}): pa.int64(),
        frozenset({"large"}): pa.int64(),
        frozenset({"int", "large"}): pa.int64(),
        frozenset({"float"}): pa.float64(),
        frozenset({"int", "float"}): pa.float64(),
        frozenset({"strings"}): pa.list_(pa.string()),
    }
    return pa.schema([(name, types.get(frozenset(found) - {"null"}, pa.string())) for name, found in kinds.items()])


def json_array(values: Sequence[Any], type: Any) -> Any:
    """Values of JSON rows as an array of a column's type."""
    pa = require("pyarrow", extra="scale")
    if pa.types.is_string(type):
        values = [value if value is None or isinstance(value, str) else _json(value) for value in values]
    return pa.array(values, type)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def unify(schemas: Sequence[tuple[str, Schema]]) -> Schema:
    """One schema for all files, or the line that says which column does not fit.

    >>> import pyarrow as pa
    >>> unify([("a", pa.schema([("id", pa.int32())])), ("b", pa.schema([("id", pa.int64()), ("x", pa.null())]))]).types
    [DataType(int64), DataType(string)]
    """
    pa = require("pyarrow", extra="scale")
    merged = pa.schema([])
    first: dict[str, str] = {}
    for path, schema in schemas:
        plain = pa.schema([(field.name, _plain(field.type)) for field in schema])
        if len(set(plain.names)) != len(plain.names):
            raise InputError(path, "names a column twice")
        for name in plain.names:
            first.setdefault(name, path)
        try:
            merged = pa.unify_schemas([merged, plain], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            name = next(n for n in plain.names if n in merged.names and not _fit(merged.field(n), plain.field(n)))
            raise InputError(
                path, f"column {name!r} is {plain.field(name).type}, but {merged.field(name).type} in {first[name]}"
            ) from None
    return pa.schema([(field.name, pa.string() if pa.types.is_null(field.type) else field.type) for field in merged])


def _plain(type: Any) -> Any:
    pa = require("pyarrow", extra="scale")
    return type.value_type if pa.types.is_dictionary(type) else type


def _fit(one: Any, other: Any) -> bool:
    pa = require("pyarrow", extra="scale")
    try:
        pa.unify_schemas([pa.schema([one]), pa.schema([other])], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True
