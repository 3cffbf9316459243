r"""WhatsApp's "export chat": a text file whose lines begin with a date in the phone's format.

Android writes `31/12/2023, 21:15 - Ann: hi` or `12/31/23, 9:15 PM - Ann: hi`, iPhones `[31/12/2023, 21:15:03] Ann: hi`.
Whether day or month comes first is inferred from the whole file: months are at most 12, and time moves forward.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from emoscope.core.errors import InputError
from emoscope.core.files import text_lines
from emoscope.corpus.sources.messages import Message, NoTurn

_HEAD = re.compile(
    r"\[?(\d{1,4})([./-])(\d{1,2})\2(\d{1,4}),?\s+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s*([AaPp])\.?\s?[Mm]\.?)?"
    r"(?:\]\s*|\s+[-–]\s+)"
)
_SPOKEN = re.compile(r"([^:]{1,100}?): ?(.*)", re.DOTALL)
_MARKS = dict.fromkeys(map(ord, "\u200f\u202a\u202c\ufeff"))  # invisible text direction marks
_OWN_WORDS = "\u200e"  # iPhones put it before text nobody typed: notices, media, "this message was edited"
_MEDIA = re.compile(
    r"<[^<>]*(?:omitted|ausgeschlossen|weggelassen|omitido|oculto|oculta|omis|omessi|weggelaten|attached|Anhang)[^<>]*>"
    r"|(?:image|video|audio|GIF|sticker|document|Contact card) omitted|.+\((?:file attached|Datei angehängt)\)"
    r"|(?:Bild|Video|Audio|GIF|Sticker|Dokument) weggelassen",
    re.IGNORECASE,
)
_EDITED = re.compile(
    rf"\s*{_OWN_WORDS}?<(?:This message was edited|Diese Nachricht wurde bearbeitet\.?)>$", re.IGNORECASE
)
_DELETED = re.compile(r"(?:This message was deleted|You deleted this message|null)\.?", re.IGNORECASE)
_ORDERS = {"day": (2, 1, 0), "month": (2, 0, 1), "year": (0, 1, 2)}  # by what comes first: indices of year, month, day
Lines = Callable[[], Iterator[tuple[int, str]]]  # gives row numbers from 1 and lines; can be called repeatedly


class _Head(NamedTuple):
    date: tuple[int, int, int]
    clock: tuple[int, int, int]
    twelve_hours: bool

    def time(self, order: str) -> datetime:
        year, month, day = (self.date[place] for place in _ORDERS[order])
        if year < 100 and order != "year":
            year += 2000
        if year < 1000:
            raise ValueError(f"the year is {year}")
        return datetime(year, month, day, *self.clock)


def read_whatsapp(path: Path, left_out: Counter[str]) -> Iterator[Message]:
    """Stream the messages of an export; other entries are counted in `left_out` by reason."""
    return whatsapp_messages(path, partial(text_lines, path), left_out)


def whatsapp_messages(path: str | Path, lines: Lines, left_out: Counter[str]) -> Iterator[Message]:
    """Stream the messages of an export that is not in a file; `path` is its name in error messages.

    >>> text = ["31/12/2023, 21:15 - Ann: hi", "31/12/2023, 21:16 - Ben: <Media omitted>"]
    >>> [message.text for message in whatsapp_messages("a.txt", lambda: enumerate(text, start=1), Counter())]
    ['hi']
    """
    order = _date_order(path, lines)
    for row, head, rest in _entries(path, lines):
        spoken = _SPOKEN.fullmatch(rest)
        if spoken is None:
            left_out[NoTurn.SYSTEM] += 1
            continue
        speaker, said = spoken[1].replace(_OWN_WORDS, "").strip(), spoken[2].strip()
        text = _EDITED.sub("", said).replace(_OWN_WORDS, "").strip()
        if not text:
            left_out[NoTurn.EMPTY] += 1
        elif _DELETED.fullmatch(text):
            left_out[NoTurn.DELETED] += 1
        elif _MEDIA.fullmatch(text):
            left_out[NoTurn.MEDIA] += 1
        elif said.startswith(_OWN_WORDS):
            left_out[NoTurn.SYSTEM] += 1
        else:
            try:
                yield Message(speaker, text, head.time(order))
            except ValueError as error:
                raise InputError(path, f"has no such date ({error})", row=row) from None


def begins_entry(line: str) -> bool:
    """Whether a line begins an entry of an export.

    >>> begins_entry("31/12/2023, 21:15 - Ann: hi"), begins_entry("Ann: hi")
    (True, False)
    """
    return _HEAD.match(line.translate(_MARKS).lstrip(_OWN_WORDS)) is not None


def _entries(path: str | Path, lines: Lines) -> Iterator[tuple[int, _Head, str]]:
    """Each entry's row, head and text, which may span lines."""
    start: tuple[int, _Head] | None = None
    said: list[str] = []
    for row, raw in lines():
        line = raw.translate(_MARKS).lstrip(_OWN_WORDS)
        match = _HEAD.match(line)
        if match is None:
            if start is None and line.strip():
                raise InputError(path, "is no WhatsApp export: expected a line that begins with a date", row=row)
            said.append(line)
            continue
        if start is not None:
            yield *start, "\n".join(said)
        start, said = (row, _head(match)), [line[match.end() :]]
    if start is not None:
        yield *start, "\n".join(said)


def _head(match: re.Match[str]) -> _Head:
    first, _, second, third, hour, minute, seconds, half_of_day = match.groups()
    hours = int(hour) if half_of_day is None else int(hour) % 12 + 12 * (half_of_day in "Pp")
    clock = hours, int(minute), int(seconds or 0)
    return _Head((int(first), int(second), int(third)), clock, half_of_day is not None)


def _date_order(path: str | Path, lines: Lines) -> str:
    """Whether day, month or year comes first: fewest impossible dates, then fewest steps back in time."""
    faults = dict.fromkeys(_ORDERS, (0, 0))
    last: dict[str, datetime] = {}
    american = False  # a 12-hour clock usually means month first
    for _, head, _ in _entries(path, lines):
        american |= head.twelve_hours
        for order in _ORDERS:
            impossible, back = faults[order]
            try:
                time = head.time(order)
            except ValueError:
                faults[order] = (impossible + 1, back)
                continue
            faults[order] = (impossible, back + (order in last and time < last[order]))
            last[order] = time
    return min(_ORDERS, key=lambda order: (faults[order], (order == "month") != american))
