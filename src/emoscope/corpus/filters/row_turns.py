"""The texts of a table row that filters read and mask: its turns, then their back-translations (`turn1_de`)."""

from collections.abc import Mapping
from typing import Any

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.tables import Record, turn_columns, turn_list
from emoscope.tables.turns import translated_columns


def whole_dialogue(record: Record, column: str | None = None) -> Dialogue:
    """Everything a row says, as one dialogue.

    >>> columns = {"turn1": "hi", "turn1_de": "hello", "note": "x"}
    >>> whole_dialogue(Record(1, Dialogue.of(["hi"]), columns)).texts
    ('hi', 'hello')
    """
    cells = _cells(record.columns, column)
    turns = tuple(_turn(value) for values in cells.values() for value in values if value is not None)
    return Dialogue(turns or record.dialogue.turns, record.dialogue.id)


def with_turns(record: Record, dialogue: Dialogue, column: str | None = None) -> dict[str, Any]:
    """The row's columns, with the turns of a masked `whole_dialogue` put back where they came from.

    >>> record = Record(1, Dialogue.of(["I am Ann"]), {"id": 7, "turns": [{"speaker": "a", "text": "I am Ann"}]})
    >>> with_turns(record, Dialogue.of([{"speaker": "a", "text": "I am <NAME>"}]))
    {'id': 7, 'turns': [{'speaker': 'a', 'text': 'I am <NAME>'}]}
    """
    turns = iter(dialogue.turns)
    columns = dict(record.columns)
    for name, values in _cells(record.columns, column).items():
        masked = [None if value is None else _replaced(value, next(turns)) for value in values]
        columns[name] = masked[0] if values == [columns[name]] else masked
    return columns


def _cells(columns: Mapping[str, Any], column: str | None) -> dict[str, list[Any]]:
    """The columns with text, each as a list of turns."""
    names = turn_columns(columns) if column is None else [column]
    cells = {name: columns[name] for name in (*names, *translated_columns(columns, names))}
    return {
        name: turn_list(cell) if name == "turns" else list(cell) if isinstance(cell, list | tuple) else [cell]
        for name, cell in cells.items()
    }


def _turn(value: Any) -> Turn:
    if not isinstance(value, Mapping):
        return Turn(str(value))
    who, what = ("role", "content") if _is_message(value) else ("speaker", "text")
    speaker, text = value.get(who), value.get(what, "")
    # Parts of a message are read together, and put back as one text if something in them is masked.
    text = Dialogue.of({"role": "", "content": text}).texts[0] if what == "content" else str(text)
    return Turn(text, None if speaker is None else str(speaker))


def _replaced(value: Any, turn: Turn) -> Any:
    if not isinstance(value, Mapping):
        return turn.text
    if _is_message(value):
        return value if turn.text == _turn(value).text else {**value, "content": turn.text}
    return {**value, **({} if turn.speaker is None else {"speaker": turn.speaker}), "text": turn.text}


def _is_message(value: Mapping[str, Any]) -> bool:
    return "content" in value and "text" not in value
