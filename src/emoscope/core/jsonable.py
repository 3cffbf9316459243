"""Results as plain values for JSON."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast


def jsonable(value: object) -> Any:
    """Convert a value for `json.dumps`: dataclasses and models become objects, arrays and tuples lists.

    A class whose JSON differs from its fields has a method `as_dict`.

    >>> from emoscope.core.significance import Interval
    >>> jsonable({"interval": Interval(0.95, 0.1, 0.2, 100)})
    {'interval': {'level': 0.95, 'low': 0.1, 'high': 0.2, 'samples': 100}}
    """
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: object) -> Any:
    """Convert one value that `json` does not know."""
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "model_dump"):  # a pydantic model; importing pydantic for isinstance is slow
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    for method in ("as_dict", "tolist"):  # numpy arrays and numbers have `tolist`
        if hasattr(value, method):
            return getattr(value, method)()
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return list(cast(Iterable[Any], value))
