"""Guesses which columns of a table contain texts, speakers and conversations, and reads the conversations."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.tables.turns import TURN_COLUMN, turn_columns

_TEXTS = {"text", "message", "utterance", "content", "body", "msg", "comment", "sentence", "tweet"}
_SPEAKERS = {"speaker", "author", "from", "sender", "user", "username", "name", "role", "who"}
_CONVERSATIONS = {"conversation", "dialogue", "dialog", "thread", "chat", "session"}
_ID = re.compile(r"[_ -]?(id|no|number)$")
TURNS, NONE, EVERY_ROW, ALL_ROWS = "turns", "", "rows", "all"


def names_text(names: Sequence[str]) -> bool:
    """Whether one of these column names is that of a column with texts."""
    return any(name.lower() in _TEXTS or name == TURNS or TURN_COLUMN.fullmatch(name) for name in names)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of texts, speakers and conversations; a column is its index as a string.

    `text` may also be "turns" (`turn1`, `turn2`, ... or a list in `turns`), `speaker` may be "" (unknown), and
    `conversation` "rows" (one per row) or "all" (all rows are one).
    """

    header: bool
    text: str
    speaker: str = NONE
    conversation: str = EVERY_ROW

    def chosen(self, form: Mapping[str, str]) -> "Columns":
        """These columns, except what a form chooses differently."""
        values = {name: form.get(name, getattr(self, name)) for name in ("text", "speaker", "conversation")}
        return Columns(bool(form["header"]) if "header" in form else self.header, **values)


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its column names, and a guess what the columns are.

    >>> table = Table.of([["id", "text"], ["7", "hi"]])
    >>> table.guess
    Columns(header=True, text='1', speaker='', conversation='rows')
    >>> table.conversations(table.guess)[0]
    Dialogue(turns=(Turn(text='hi', speaker=None),), id='7')
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    guess: Columns

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]], header: bool | None = None) -> "Table":
        """The table of these rows; the first one may be a header."""
        first = [cell.strip() for cell in rows[0]]
        if header is None:
            header = names_text(first) or _looks_like_names(first, rows[1:])
        names = first if header else [f"column {number}" for number in range(1, len(first) + 1)]
        kept = tuple(tuple(row) for row in rows[1 if header else 0 :])
        return cls(tuple(names), kept, _guess(names, kept, header))

    def conversations(self, columns: Columns) -> list[Dialogue]:
        """The conversations, without rows that have no text."""
        if columns.text == TURNS:
            places = [self.names.index(name) for name in turn_columns(self.names)]
            rows = [(self._name(row, number), self._turns(row, places, number)) for number, row in self._numbered()]
            return [Dialogue(turns, name) for name, turns in rows if turns]
        text, speaker = self._place(columns.text), self._place(columns.speaker)
        if text is None:
            raise EmoscopeError("choose the column with the texts")
        group, every = self._place(columns.conversation), columns.conversation == EVERY_ROW
        groups: dict[str | int, tuple[str, list[Turn]]] = {}
        for number, row in self._numbered():
            if row[text].strip():
                key = number if every else "conversation" if group is None else row[group]
                name = self._name(row, number) if every else str(key)
                turn = Turn(row[text].strip(), (row[speaker].strip() or None) if speaker is not None else None)
                groups.setdefault(key, (name, []))[1].append(turn)
        return [Dialogue(tuple(turns), name) for name, turns in groups.values()]

    def _numbered(self) -> list[tuple[int, tuple[str, ...]]]:
        return list(enumerate(self.rows, start=1))

    def _place(self, column: str) -> int | None:
        return int(column) if column.isdecimal() and len(column) < 9 and int(column) < len(self.names) else None

    def _name(self, row: Sequence[str], number: int) -> str:
        """The name of a row: its `id`, or its number."""
        return row[self.names.index("id")] if "id" in self.names else str(number)

    def _turns(self, row: Sequence[str], places: Sequence[int], number: int) -> tuple[Turn, ...]:
        cells = [row[place] for place in places]
        if [self.names[place] for place in places] == [TURNS]:
            try:
                listed = json.loads(cells[0] or "[]")
                return Dialogue.of(listed).turns if listed else ()
            except (ValueError, RecursionError, EmoscopeError):
                raise EmoscopeError(f"row {number}: 'turns' is not a JSON list of turns") from None
        while cells and not cells[-1].strip():
            cells.pop()
        return tuple(Turn(cell.strip()) for cell in cells)


def _looks_like_names(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first row consists of short single words, above rows with longer texts."""
    short = all(cell and len(cell) <= 30 and not re.search(r"\s|^\d", cell) for cell in first)
    return short and len(set(first)) == len(first) and any(" " in cell.strip() for row in rest for cell in row)


def _guess(names: Sequence[str], rows: Sequence[Sequence[str]], header: bool) -> Columns:
    plain = [_ID.sub("", name.lower()) for name in names]

    def named(known: set[str]) -> str:
        return next((str(place) for place, name in enumerate(plain) if name in known), NONE)

    speaker, conversation = named(_SPEAKERS), named(_CONVERSATIONS)
    if turn_columns(names) and list(turn_columns(names)) != ["text"]:
        return Columns(header, TURNS)
    text = named(_TEXTS)
    if not text:  # the longest texts
        lengths = [sum(len(row[place]) for row in rows[:50]) for place in range(len(names))]
        text = str(lengths.index(max(lengths)))
    return Columns(header, text, speaker, conversation or (ALL_ROWS if speaker else EVERY_ROW))
