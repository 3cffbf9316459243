"""JSON: results as plain values, and files read with a clear line for what is wrong."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

from emoscope.core.errors import InputError
from emoscope.core.files import whole_text


def jsonable(value: object) -> Any:
    """A value as `json.dumps` takes it: dataclasses and models become objects, arrays and tuples lists.

    A class whose JSON is more than its fields has a method `as_dict`.

    >>> from emoscope.core.significance import Interval
    >>> jsonable({"interval": Interval(0.95, 0.1, 0.2, 100)})
    {'interval': {'level': 0.95, 'low': 0.1, 'high': 0.2, 'samples': 100}}
    """
    match value:
        case None | str() | int() | float():
            return value
        case Path():
            return str(value)
        case BaseModel():
            return value.model_dump(mode="json")
        case Mapping():
            return {key: jsonable(inner) for key, inner in value.items()}
    if hasattr(value, "as_dict"):
        plain = value.as_dict()
    elif hasattr(value, "tolist"):  # a numpy array or number
        plain = value.tolist()
    elif is_dataclass(value):
        plain = {field.name: getattr(value, field.name) for field in fields(value)}
    else:
        return [jsonable(inner) for inner in cast(Iterable[Any], value)]
    return jsonable(plain)


def read_json(path: str | Path) -> Any:
    """The content of a JSON file."""
    return parse_json(path, whole_text(path))


def parse_json(path: str | Path, text: str, row: int | None = None) -> Any:
    """The value of a JSON text; errors name the file and row, by default the line in the text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(path, f"is not valid JSON ({error.msg})", row=row or error.lineno) from None
    except RecursionError:
        raise InputError(path, "is nested too deeply", row=row) from None
