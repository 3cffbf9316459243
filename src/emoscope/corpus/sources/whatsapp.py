r"""WhatsApp's "export chat": a text file whose lines begin with a date in the fashion of the phone.

| phone | line |
|---|---|
| Android | `31/12/2023, 21:15 - Ann: hi`, `12/31/23, 9:15 PM - Ann: hi`, `31.12.23, 21:15 - Ann: hi` |
| iPhone | `[31/12/2023, 21:15:03] Ann: hi` |

Whether the day or the month comes first is told from the whole file: no month is over 12, and time does not run back.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from emoscope.core.errors import InputError
from emoscope.core.files import text_lines
from emoscope.corpus.sources.messages import Message, NoTurn

_HEAD = re.compile(
    r"\[?(\d{1,4})([./-])(\d{1,2})\2(\d{1,4}),?\s+(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:\s*([AaPp])\.?\s?[Mm]\.?)?"
    r"(?:\]\s*|\s+-\s+)"
)
_SAID = re.compile(r"([^:]{1,100}?): ?(.*)", re.DOTALL)
_MARKS = dict.fromkeys(map(ord, "\u200e\u200f\u202a\u202c\ufeff"))  # they steer the direction of writing, unseen
_MEDIA = re.compile(
    r"<[^<>]*(?:omitted|ausgeschlossen|omitido|omis|attached|Anhang)[^<>]*>"
    r"|(?:image|video|audio|GIF|sticker|document|Contact card) omitted|.+\((?:file attached|Datei angehängt)\)",
    re.IGNORECASE,
)
_DELETED = re.compile(r"(?:This message was deleted|You deleted this message)\.?", re.IGNORECASE)
_ORDERS = ("day", "month", "year")


class _Head(NamedTuple):
    first: int
    second: int
    third: int
    hour: int
    minute: int
    second_of_minute: int
    to_twelve: bool

    def time(self, order: str) -> datetime:
        year, month, day = {
            "day": (self.third, self.second, self.first),
            "month": (self.third, self.first, self.second),
            "year": (self.first, self.second, self.third),
        }[order]
        if year < 100 and order != "year":
            year += 2000
        if year < 1000:
            raise ValueError(f"the year is {year}")
        return datetime(year, month, day, self.hour, self.minute, self.second_of_minute)


def read(path: Path, dropped: Counter[str]) -> Iterator[Message]:
    """Stream the messages of an export; what is none is counted in `dropped` by its reason."""
    order = _date_order(path)
    for row, head, rest in _entries(path):
        said = _SAID.fullmatch(rest)
        if said is None:
            dropped[NoTurn.SYSTEM] += 1
            continue
        speaker, text = said[1].strip(), said[2].strip()
        if (reason := _no_turn(text)) is not None:
            dropped[reason] += 1
            continue
        try:
            yield Message(speaker, text, head.time(order))
        except ValueError as error:
            raise InputError(path, f"has no such date ({error})", row=row) from None


def _no_turn(text: str) -> NoTurn | None:
    if not text:
        return NoTurn.EMPTY
    if _DELETED.fullmatch(text):
        return NoTurn.DELETED
    return NoTurn.MEDIA if _MEDIA.fullmatch(text) else None


def _entries(path: Path) -> Iterator[tuple[int, _Head, str]]:
    """Each message with the lines it goes on over."""
    begun: tuple[int, _Head] | None = None
    lines: list[str] = []
    for row, raw in text_lines(path):
        line = raw.translate(_MARKS)
        found = _HEAD.match(line)
        if found is None:
            if begun is None and line.strip():
                raise InputError(path, "is no WhatsApp export: expected a line that begins with a date", row=row)
            lines.append(line)
            continue
        if begun is not None:
            yield *begun, "\n".join(lines)
        begun, lines = (row, _head(found)), [line[found.end() :]]
    if begun is not None:
        yield *begun, "\n".join(lines)


def _head(found: re.Match[str]) -> _Head:
    hour = int(found[5])
    if found[8] is not None:
        hour = hour % 12 + (12 if found[8] in "Pp" else 0)
    return _Head(
        int(found[1]), int(found[3]), int(found[4]), hour, int(found[6]), int(found[7] or 0), found[8] is not None
    )


def _date_order(path: Path) -> str:
    """Which of the date's numbers comes first, by which order has the fewest impossible dates, then steps back."""
    faults = dict.fromkeys(_ORDERS, (0, 0))
    last: dict[str, datetime] = {}
    american = False  # who counts hours to twelve mostly writes the month first
    for _, head, _ in _entries(path):
        american |= head.to_twelve
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
