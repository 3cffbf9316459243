"""The types of the columns that are passed through: one per column for the whole output."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require

pa = require("pyarrow", extra="scale")

MAX_COLUMNS = 1000
_EXACT = 1 << 53  # beyond this, integers are not exact as floats
_LARGEST = 1 << 63
_SIMPLE = {type(None): "null", bool: "bool", float: "float", str: "string"}

Kinds = dict[str, set[str]]  # the kinds of value seen in each column
Schema = Any  # pyarrow's


def value_kind(value: object) -> str:
    """The kind of a JSON value, as far as a column's type depends on it.

    >>> [value_kind(value) for value in (1, 1.5, "a", ["a"], {"b": 1}, None)]
    ['int', 'float', 'string', 'strings', 'json', 'null']
    """
    if type(value) is int:
        return "int" if abs(value) <= _EXACT else "large" if -_LARGEST <= value < _LARGEST else "json"
    if isinstance(value, list):
        return "strings" if all(item is None or isinstance(item, str) for item in value) else "json"
    return _SIMPLE.get(type(value), "json")


def merge_kinds(into: Kinds, more: Mapping[str, Iterable[str]]) -> None:
    """Add the kinds seen in one part to those seen in others; columns keep the order in which they first occur."""
    for name, kinds in more.items():
        into.setdefault(name, set()).update(kinds)
    if len(into) > MAX_COLUMNS:
        raise EmoscopeError(f"the JSON rows have more than {MAX_COLUMNS:,} different keys; expected columns")


def json_schema(kinds: Mapping[str, Iterable[str]]) -> Schema:
    """The schema of JSON rows; a column with values of different types becomes JSON text.

    >>> json_schema({"id": ["int"], "extra": ["int", "string"], "turns": ["strings"]}).types
    [DataType(int64), DataType(string), ListType(list<item: string>)]
    """
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
    return pa.schema([(name, types.get(frozenset(seen) - {"null"}, pa.string())) for name, seen in kinds.items()])


def json_array(values: Sequence[Any], type: Any) -> Any:
    """Values of JSON rows as an array of a column's type."""
    if pa.types.is_string(type):
        values = [v if v is None or isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values]
    return pa.array(values, type)


def unify(schemas: Sequence[tuple[str, Schema]]) -> Schema:
    """One schema for all files; an error names the column that does not fit.

    >>> import pyarrow as pa
    >>> unify([("a", pa.schema([("id", pa.int32())])), ("b", pa.schema([("id", pa.int64()), ("x", pa.null())]))]).types
    [DataType(int64), DataType(string)]
    """
    types: dict[str, Any] = {}
    seen: dict[str, dict[Any, str]] = {}  # for each column and type, the first file that has it
    for path, schema in schemas:
        if len(set(schema.names)) != len(schema.names):
            raise InputError(path, "names a column twice")
        for field in schema:
            plain = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            others = seen.setdefault(field.name, {})
            common = _common_type(types.get(field.name, plain), plain)
            if common is None:
                type, first = next(
                    (pair for pair in others.items() if _common_type(pair[0], plain) is None),
                    next(iter(others.items())),
                )
                raise InputError(path, f"column {field.name!r} is {plain}, but {type} in {first}")
            types[field.name] = common
            others.setdefault(plain, path)
    return pa.schema([(name, pa.string() if pa.types.is_null(type) else type) for name, type in types.items()])


def _common_type(first: Any, second: Any) -> Any:
    """A type that can hold the values of both, or None."""
    try:
        return pa.unify_schemas(
            [pa.schema([("", first)]), pa.schema([("", second)])], promote_options="permissive"
        ).types[0]
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
