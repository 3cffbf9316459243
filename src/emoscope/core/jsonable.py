"""Results as plain values for JSON."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast


def jsonable(value: object) -> Any:
    """A value as `json.dumps` takes it: dataclasses and models become objects, arrays and tuples lists.

    A class whose JSON is more than its fields has a method `as_dict`.

    >>> from emoscope.core.significance import Interval
    >>> jsonable({"interval": Interval(0.95, 0.1, 0.2, 100)})
    {'interval': {'level': 0.95, 'low': 0.1, 'high': 0.2, 'samples': 100}}
    """
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: object) -> Any:
    """What `json` does not know, one level of it."""
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "model_dump"):  # of pydantic, which takes long to import
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    for method in ("as_dict", "tolist"):  # the latter of a numpy array or number
        if hasattr(value, method):
            return getattr(value, method)()
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return list(cast(Iterable[Any], value))
