"""The columns that are passed through: one type each for the whole output, whatever the inputs are."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require

pa = require("pyarrow", extra="scale")

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


def merge_kinds(into: Kinds, more: Mapping[str, Iterable[str]]) -> None:
    """Add what was seen in one place to what was seen in others, columns in the order they were met."""
    for name, kinds in more.items():
        into.setdefault(name, set()).update(kinds)
    if len(into) > MAX_COLUMNS:
        raise EmoscopeError(f"the JSON rows have more than {MAX_COLUMNS:,} different keys; expected columns")


def json_schema(kinds: Mapping[str, Iterable[str]]) -> Schema:
    """The schema of JSON rows; a column of values that no one type holds becomes JSON text.

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
    """One schema for all files, or the line that says which column does not fit.

    >>> import pyarrow as pa
    >>> unify([("a", pa.schema([("id", pa.int32())])), ("b", pa.schema([("id", pa.int64()), ("x", pa.null())]))]).types
    [DataType(int64), DataType(string)]
    """
    types: dict[str, Any] = {}
    seen: dict[str, dict[Any, str]] = {}  # of each column, the first file that has it with a type
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


def _common_type(one: Any, other: Any) -> Any:
    """The type that holds the values of both; None if there is none."""
    try:
        return pa.unify_schemas([pa.schema([("", one)]), pa.schema([("", other)])], promote_options="permissive").types[
            0
        ]
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
