"""Reads conversations from pasted text and files: lines, tables, JSON, and exports of WhatsApp and Telegram.

This is for browsers without scripts. Otherwise `static/detect/read.js` reads in the browser, so that files need not
leave it; a test checks that both read the same.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.sources.json_exports import telegram_messages
from emoscope.corpus.sources.messages import Message
from emoscope.corpus.sources.whatsapp import begins_entry, whatsapp_messages
from emoscope.server.detect.columns import Columns, Table
from emoscope.server.detect.delimited import table_rows
from emoscope.tables.turns import turn_columns

# Direction marks, except U+200E, which marks WhatsApp's own entries; and non-breaking spaces.
_MARKS = dict.fromkeys(map(ord, "\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"))
_MARKS |= dict.fromkeys(map(ord, "\u202f\u00a0"), " ")
_SPOKEN = re.compile(r"([^\s:][^:]{0,39}?):\s+(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reading:
    """Conversations that were read; `table` and `columns` are set if they came from a table."""

    format: str
    conversations: list[Dialogue]
    table: Table | None = None
    columns: Columns | None = None
    left_out: int = 0


def read(text: str, name: str = "", chosen: Mapping[str, str] | None = None) -> Reading:
    r"""Read a text or the content of a file; `chosen` are the columns chosen in the form.

    >>> read("Ana: I won!\nBen: wow").conversations[0].turns[1]
    Turn(text='wow', speaker='Ben')
    >>> [dialogue.texts for dialogue in read("id,turn1,turn2\n1,hi,hello\n2,so,what").conversations]
    [('hi', 'hello'), ('so', 'what')]
    """
    marked = text.translate(_MARKS).replace("\r\n", "\n").replace("\r", "\n").strip(" \n\u200e")
    clean = marked.replace("\u200e", "")
    if not clean.strip():
        return Reading("lines", [])
    if clean[0] in "{[" and (values := _json_values(clean)) is not None:
        _check_characters(values)
        return _of_json(values, name, chosen or {})
    lines = clean.split("\n")
    stamped = [number for number, line in enumerate(lines) if begins_entry(line)]
    if stamped and len(stamped) * 4 >= len(lines):
        left_out: Counter[str] = Counter()
        kept = marked.split("\n")[stamped[0] :]
        messages = whatsapp_messages(name or "the export", lambda: enumerate(kept, start=1), left_out)
        return Reading("whatsapp", _by_place(messages), left_out=left_out.total())
    if (rows := table_rows(clean, name)) is not None:
        return _of_table("tsv" if "\t" in clean else "csv", rows, chosen or {})
    turns = tuple(_line_turn(line.strip()) for line in lines if line.strip())
    return Reading("lines", [Dialogue(turns, "conversation")])


def _line_turn(line: str) -> Turn:
    spoken = _SPOKEN.fullmatch(line)
    # A long "speaker" is part of a sentence.
    if spoken and len(spoken[1].split()) <= 4:
        return Turn(spoken[2].strip(), spoken[1].strip())
    return Turn(line)


def _by_place(messages: Iterable[Message]) -> list[Dialogue]:
    places: dict[str, list[Turn]] = {}
    for message in messages:
        places.setdefault(message.place, []).append(Turn(message.text, message.speaker))
    return [Dialogue(tuple(turns), place or "conversation") for place, turns in places.items()]


def _of_table(format: str, rows: list[list[str]], chosen: Mapping[str, str]) -> Reading:
    table = Table.of(rows, bool(chosen["header"]) if "header" in chosen else None)
    columns = table.guess.chosen(chosen)
    return Reading(format, table.conversations(columns), table, columns)


def _json_values(text: str) -> list[Any] | None:
    """The values of a JSON document or of JSON lines; None for other text, such as "[12.01.24, ..."."""
    try:
        whole = json.loads(text)
    except RecursionError:
        raise EmoscopeError("the JSON is nested too deeply") from None
    except ValueError:
        pass
    else:
        return whole if isinstance(whole, list) and not _is_turns(whole) else [whole]
    values: list[Any] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError):
                if number == 1:
                    return None
                raise EmoscopeError(f"line {number} is not valid JSON") from None
    return values


def _check_characters(values: list[Any]) -> None:
    """Refuse lone surrogates, which JSON allows and no page can show."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise EmoscopeError("the JSON holds half of a character (a surrogate without its pair)") from None


def _is_turns(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(turn, str) for turn in value)


def _of_json(values: list[Any], name: str, chosen: Mapping[str, str]) -> Reading:
    first = values[0] if values else None
    if isinstance(first, dict) and _is_telegram(first):
        left_out: Counter[str] = Counter()
        messages = telegram_messages(name or "the export", first, left_out)
        return Reading("telegram", _by_place(messages), left_out=left_out.total())
    if values and all(isinstance(value, str) for value in values):
        return Reading("json", [Dialogue(tuple(map(Turn, values)), "conversation")])
    if any(isinstance(_listed(value), list) for value in values):
        return Reading("json", [_json_dialogue(value, number) for number, value in enumerate(values, start=1)])
    if not all(isinstance(value, dict) for value in values):
        raise EmoscopeError('expected conversations: lists of turns, or objects with "turns" or "text"')
    names = list(dict.fromkeys(key for value in values for key in value))
    rows = [[_cell(value.get(key)) for key in names] for value in values]
    return _of_table("json", [names, *rows], {**chosen, "header": "yes"})


def _is_telegram(document: Mapping[str, Any]) -> bool:
    messages = document.get("messages")
    dated = isinstance(messages, list) and any(isinstance(each, dict) and "type" in each for each in messages)
    return dated or isinstance(document.get("chats"), dict)


def _listed(value: Any) -> Any:
    """The turns of a conversation: itself, or its `turns` or `messages`."""
    return value.get("turns", value.get("messages")) if isinstance(value, dict) else value


def _json_dialogue(value: Any, number: int) -> Dialogue:
    turns = _listed(value)
    if turns is None:
        turns = [value[name] for name in turn_columns(value) if value[name]]
    if not isinstance(turns, list) or not turns:
        raise EmoscopeError(f'conversation {number} has no turns: expected a list, or "turns"')
    name = value.get("id", value.get("name")) if isinstance(value, dict) else None
    return Dialogue(tuple(_json_turn(turn, number) for turn in turns), str(number if name is None else name))


def _json_turn(value: Any, number: int) -> Turn:
    text = value.get("text", value.get("utterance", value.get("content"))) if isinstance(value, dict) else value
    if not isinstance(text, str):
        raise EmoscopeError(f'conversation {number}: a turn must be a string, or an object with "text"')
    keys = ("speaker", "from", "author", "role")
    speaker = (
        next((value[key] for key in keys if value.get(key) is not None), None) if isinstance(value, dict) else None
    )
    return Turn(text, None if speaker is None else str(speaker))


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
