"""The dialogue of a row, by the same rules as `emoscope detect`."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.tables import turn_columns

EXPECTED = "expected turns, or turn1, turn2, ..., or text"


def dialogue_of(values: Sequence[Any], *, listed: bool) -> Dialogue:
    """The dialogue of the cells that hold a row's turns; `listed` says that it is one cell with a list of them.

    >>> dialogue_of(["hi", "hello", None], listed=False).texts
    ('hi', 'hello')
    >>> dialogue_of(['["hi"]'], listed=True).texts
    ('hi',)
    """
    turns = _as_list(values[0]) if listed else list(values)
    while turns and turns[-1] in (None, ""):  # a shorter dialogue leaves its last columns empty
        turns.pop()
    if not turns:
        raise EmoscopeError("has no turns")
    return Dialogue.of("" if turn is None else turn for turn in turns)


def row_dialogue(columns: Mapping[str, Any]) -> Dialogue:
    """The dialogue of a row given by its columns.

    >>> row_dialogue({"id": 7, "turn2": "hello", "turn1": "hi"}).texts
    ('hi', 'hello')
    """
    names = turn_names(tuple(columns))
    if not names:
        raise EmoscopeError(f"has no turns; {EXPECTED}")
    return dialogue_of([columns[name] for name in names], listed=names == ("turns",))


@lru_cache(1000)  # rows of one table have the same columns, or one of a few sets of them
def turn_names(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that hold turns, in order.

    >>> turn_names(("id", "turn2", "turn1"))
    ('turn1', 'turn2')
    """
    return tuple(turn_columns(columns))


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str):  # a list written into a cell
        try:
            value = json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            raise EmoscopeError("'turns' is not a JSON list") from None
    if not isinstance(value, list):
        raise EmoscopeError(f"'turns' must be a list, not {type(value).__name__}")
    return list(value)
