"""The turns of a table's row, and the row with those turns changed: for masking without touching anything else."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.tables import Record, turn_columns

_LANGUAGE = re.compile(r"(.+)_([a-z]{2,3})")


def whole_dialogue(record: Record, column: str | None = None) -> Dialogue:
    """All that a row says: its turns, then its back-translations, in columns such as `turn1_de`.

    >>> columns = {"turn1": "hi", "turn1_de": "hello", "note": "x"}
    >>> whole_dialogue(Record(1, Dialogue.of(["hi"]), columns)).texts
    ('hi', 'hello')
    """
    said = [turn for name in _columns(record.columns, column) for turn in _turns(name, record.columns[name])]
    return Dialogue(tuple(said) or record.dialogue.turns, record.dialogue.id)


def with_turns(record: Record, dialogue: Dialogue, column: str | None = None) -> dict[str, Any]:
    """The row's columns with the turns of a dialogue that `whole_dialogue` gave and a filter changed.

    >>> record = Record(1, Dialogue.of(["I am Ann"]), {"id": 7, "turns": [{"speaker": "a", "text": "I am Ann"}]})
    >>> with_turns(record, Dialogue.of([{"speaker": "a", "text": "I am <NAME>"}]))
    {'id': 7, 'turns': [{'speaker': 'a', 'text': 'I am <NAME>'}]}
    """
    turns = iter(dialogue.turns)
    made = dict(record.columns)
    for name in _columns(record.columns, column):
        made[name] = _replaced(name, record.columns[name], turns)
    return made


def _columns(columns: Mapping[str, Any], column: str | None) -> list[str]:
    names = [column] if column is not None else turn_columns(columns)
    return names + [name for name in columns if (match := _LANGUAGE.fullmatch(name)) and match[1] in names]


def _turns(name: str, cell: Any) -> Iterator[Turn]:
    for value in _listed(name, cell):
        if isinstance(value, Mapping):
            speaker = value.get("speaker")
            yield Turn(str(value.get("text", "")), None if speaker is None else str(speaker))
        elif value is not None:
            yield Turn(str(value))


def _replaced(name: str, cell: Any, turns: Iterator[Turn]) -> Any:
    changed: list[Any] = []
    for value in (values := _listed(name, cell)):
        if isinstance(value, Mapping):
            turn = next(turns)
            who = {} if turn.speaker is None else {"speaker": turn.speaker}
            changed.append({**value, **who, "text": turn.text})
        else:
            changed.append(None if value is None else next(turns).text)
    return changed[0] if values == [cell] else changed


def _listed(name: str, cell: Any) -> list[Any]:
    """A cell's turns: itself, or those of the list that it is or that, in a column `turns`, is written in it."""
    if name == "turns" and isinstance(cell, str):
        cell = json.loads(cell)  # the reader has found it to be a list
    return list(cell) if isinstance(cell, list | tuple) else [cell]
