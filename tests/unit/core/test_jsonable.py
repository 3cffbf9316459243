"""Results as JSON, and JSON files that cannot be read."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from emoscope.core.errors import InputError
from emoscope.core.files import read_json
from emoscope.core.frozen import FrozenModel
from emoscope.core.jsonable import jsonable


@dataclass(frozen=True, slots=True)
class Inner:
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner
    by_name: dict[str, Inner]
    array: np.ndarray
    path: Path
    missing: None = None


class Counted:
    def as_dict(self) -> dict[str, object]:
        return {"own": Inner((0.5,))}


class Model(FrozenModel):
    name: str


def test_nested_results_become_plain_values() -> None:
    outer = Outer(Inner((1.0, 2.0)), {"a": Inner(())}, np.array([[1, 2]]), Path("x"))
    plain = jsonable([outer, Counted(), Model(name="m"), np.float64(0.5), True])
    assert json.loads(json.dumps(plain)) == [
        {
            "inner": {"values": [1.0, 2.0]},
            "by_name": {"a": {"values": []}},
            "array": [[1, 2]],
            "path": "x",
            "missing": None,
        },
        {"own": {"values": [0.5]}},
        {"name": "m"},
        0.5,
        True,
    ]


def test_invalid_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        jsonable(object())
    path = tmp_path / "a.json"
    path.write_text('{"a": 1,\n}')
    with pytest.raises(InputError, match=r"a\.json, row 2: is not valid JSON"):
        read_json(path)
