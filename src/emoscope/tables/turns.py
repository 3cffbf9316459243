"""How a row becomes a dialogue, the same for every reader.

The turns are in columns `turn1`, `turn2`, ..., in one column `turns` (a list, or a list as JSON text), or a single turn
is in `text`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError


class NoTextError(EmoscopeError):
    """A row whose turns are all empty."""


EXPECTED = "expected columns turn1, turn2, ..., or turns, or text"
NO_TURN_COLUMN = f"has no turns; {EXPECTED}"  # of one row, whose columns may differ from those of the others
TURN_COLUMN = re.compile(r"turn_?(\d+)", re.IGNORECASE)
_TRANSLATED = re.compile(r"(.+)_([a-z]{2,3})")


def turn_columns(names: Iterable[str]) -> list[str]:
    """The columns with turns, in order.

    >>> turn_columns(["id", "turn2", "turn1"])
    ['turn1', 'turn2']
    """
    return list(_turn_columns(tuple(names)))


@lru_cache(1000)  # rows of a table have the same columns, or one of a few sets of columns
def _turn_columns(names: tuple[str, ...]) -> tuple[str, ...]:
    numbered = sorted((int(match[1]), name) for name in names if (match := TURN_COLUMN.fullmatch(name)))
    if numbered:
        return tuple(name for _, name in numbered)
    return tuple(name for name in names if name == ("turns" if "turns" in names else "text"))


def translated_columns(names: Iterable[str], turns: Sequence[str]) -> dict[str, str]:
    """The columns with back-translations of these turns, and the pivot language of each.

    >>> translated_columns(["id", "turn1", "turn1_de", "note_de"], ["turn1"])
    {'turn1_de': 'de'}
    """
    return {name: match[2] for name in names if (match := _TRANSLATED.fullmatch(name)) and match[1] in turns}


def row_dialogue(columns: Mapping[str, Any], column: str | None = None) -> Dialogue:
    """The dialogue of a row; `column` names the column with the text or the list of turns.

    >>> row_dialogue({"id": 7, "turn2": "hello", "turn1": "hi"}).texts
    ('hi', 'hello')
    >>> row_dialogue({"history": '["hi", "hello"]'}, "history").texts
    ('hi', 'hello')
    """
    if column is not None:
        if column not in columns:
            raise EmoscopeError(f"has no column {column!r}; it has: {', '.join(columns) or 'none'}")
        cell = columns[column]
        return dialogue_of(("turns",) if _is_turn_list(cell) else (column,), [cell])
    names = _turn_columns(tuple(columns))
    if not names:
        raise EmoscopeError(f"{NO_TURN_COLUMN}; found: {', '.join(columns) or 'none'}")
    return dialogue_of(names, [columns[name] for name in names])


def dialogue_of(names: Sequence[str], values: Sequence[Any]) -> Dialogue:
    """The dialogue of a row's turn columns, given their names and values.

    >>> dialogue_of(("turn1", "turn2", "turn3"), ["hi", "hello", None]).texts
    ('hi', 'hello')
    >>> dialogue_of(("turns",), ['["hi"]']).texts
    ('hi',)
    """
    if not names:
        raise EmoscopeError(NO_TURN_COLUMN)
    turns = turn_list(values[0]) if tuple(names) == ("turns",) else list(values)
    while turns and turns[-1] in (None, ""):  # a shorter dialogue leaves its last columns empty
        turns.pop()
    if not turns:
        raise NoTextError("has no turns")
    return Dialogue.of("" if turn is None else turn for turn in turns)


def turn_list(cell: Any) -> list[Any]:
    """The turns in a cell of the column `turns`.

    >>> turn_list('["hi", "hello"]')
    ['hi', 'hello']
    """
    if cell is None or cell == "":  # no turns, as in an empty column `text`
        return []
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (json.JSONDecodeError, RecursionError):
            raise EmoscopeError("'turns' is not a JSON list") from None
    if not isinstance(cell, list):
        raise EmoscopeError(f"'turns' must be a list, not {type(cell).__name__}")
    return list(cell)


def _is_turn_list(cell: Any) -> bool:
    """Whether a cell is a list, or the JSON text of a list of turns, which is how a CSV file holds one."""
    if not isinstance(cell, str):
        return isinstance(cell, list)
    if not cell.startswith("["):
        return False
    try:
        turns = json.loads(cell)
    except (json.JSONDecodeError, RecursionError):
        return False
    return bool(turns) and all(isinstance(turn, str | dict) for turn in turns)  # "[1]" may be what somebody said
