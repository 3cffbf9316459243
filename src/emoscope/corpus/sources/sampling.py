"""Draw a uniform sample of conversations, optionally from a date range, in bounded memory.

Each conversation gets a random number from the seed and its name, and the smallest numbers are drawn. So the rows of a
conversation are drawn together wherever they are, and a larger sample contains the smaller one. The input is read
twice; only the numbers are held in memory, eight bytes per conversation to draw.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from hashlib import blake2b
from typing import Any

import numpy as np

from emoscope.core.counts import counted
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import check_other_file
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.tables import PIPE, Record, open_writer, read_records

TIME, CONVERSATION = "time", "conversation"
_ALL = 2**64


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days from `since` to `until`, inclusive; either may be open."""

    since: date | None = None
    until: date | None = None

    def __post_init__(self) -> None:
        if self.since is not None and self.until is not None and self.since > self.until:
            raise EmoscopeError(f"--since {self.since} lies after --until {self.until}")

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None

    def __contains__(self, moment: datetime) -> bool:
        day = moment.date()
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)


def as_day(text: str | None, option: str = "date") -> date | None:
    """Parse a day such as 2018-12-31, or a year: its first day, or its last for an `until` option.

    >>> as_day("2018"), as_day("2018", "--until"), as_day("2018-05-01")
    (datetime.date(2018, 1, 1), datetime.date(2018, 12, 31), datetime.date(2018, 5, 1))
    """
    if text is None:
        return None
    try:
        if len(text) == 4:
            return date(int(text), 12, 31) if option.endswith("until") else date(int(text), 1, 1)
        return date.fromisoformat(text)
    except ValueError:
        raise EmoscopeError(f"{option}: expected a day such as 2018-12-31 or a year, found {text!r}") from None


def as_moment(value: object) -> datetime | None:
    """Parse an ISO 8601 time, or seconds or milliseconds since 1970; None if it is neither.

    >>> as_moment("2018-05-01 12:30").day, as_moment(1525170600).year, as_moment(1525170600000).year, as_moment("May")
    (1, 2018, 2018, None)
    """
    if isinstance(value, date):
        return value if isinstance(value, datetime) else datetime.combine(value, time())
    try:
        if isinstance(value, str):
            text = value.strip()
            is_number = text.replace(".", "", 1).isdigit() and len(text) > 8
            return as_moment(float(text)) if is_number else datetime.fromisoformat(text)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def random_key(seed: int, name: str) -> int:
    """A conversation's random 64-bit number, determined by the seed and its name."""
    return int.from_bytes(blake2b(f"{seed}\x00{name}".encode("utf-8", "replace"), digest_size=8).digest())


def largest_drawn(keys: Iterable[int], size: int) -> int:
    """The largest of the `size` smallest distinct numbers; if there are fewer, all are drawn.

    >>> largest_drawn([5, 1, 9, 1, 3], 2)
    3
    """
    kept = np.empty(0, np.uint64)
    waiting: list[int] = []
    for key in keys:
        waiting.append(key)
        if len(waiting) >= max(size, 4096):
            kept, waiting = _smallest(kept, waiting, size), []
    kept = _smallest(kept, waiting, size)
    return int(kept[-1]) if len(kept) >= size else _ALL


def _smallest(kept: "np.ndarray[Any, np.dtype[np.uint64]]", more: list[int], size: int) -> Any:
    return np.unique(np.concatenate([kept, np.array(more, np.uint64)]))[:size]


def write_sample(
    source: str,
    output: str,
    size: int,
    *,
    dates: DateRange | None = None,
    time_column: str = TIME,
    conversation: str | None = None,
    seed: int = 1,
    format: str | None = None,
    progress: ShowProgress = no_progress,
) -> dict[str, int]:
    """Write the rows of `size` random conversations, optionally from a date range, and return the counts.

    A conversation is all rows with the same value in its column, by default `conversation`; without that column, each
    row is one.
    """
    if source == PIPE:
        raise EmoscopeError("the input is read twice, which a pipe does not allow; give a file")
    if output != PIPE:
        check_other_file(output, source)
    wanted = dates or DateRange()
    counts = {"read": 0, "outside": 0, "rows": 0, "written": 0}

    def rows(title: str) -> Iterator[tuple[int, Record]]:
        counts["read"] = counts["outside"] = 0
        for record in progress(title, read_records(source, format)):
            counts["read"] += 1
            if wanted and moment_of(source, record, time_column) not in wanted:
                counts["outside"] += 1
                continue
            yield random_key(seed, _name(source, record, conversation)), record

    limit = largest_drawn((key for key, _ in rows("drawing")), size)
    if counts["outside"] and counts["outside"] == counts["read"]:
        raise InputError(source, f"has {counted(counts['read'], 'row')}, none in the range of dates")
    drawn = set()
    with open_writer(output) as writer:
        for key, record in rows("writing"):
            if key <= limit:
                drawn.add(key)
                writer.write(record.columns)
                counts["written"] += 1
    counts["rows"] = counts["read"] - counts["outside"]
    return {**counts, "conversations": len(drawn)}


def moment_of(source: str, record: Record, column: str) -> datetime:
    """When a row's dialogue began, from its time column."""
    if column not in record.columns:
        raise InputError(source, f"has no column {column!r} with the time; name it with --time", row=record.row)
    moment = as_moment(record.columns[column])
    if moment is None:
        problem = f"{column}: expected a time as in ISO 8601 or seconds since 1970, found {record.columns[column]!r}"
        raise InputError(source, problem, row=record.row)
    return moment


def _name(source: str, record: Record, column: str | None) -> str:
    if column is not None and column not in record.columns:
        raise InputError(source, f"has no column {column!r} that names the conversation", row=record.row)
    value = record.columns.get(column or CONVERSATION)
    return f"row {record.row}" if value is None else str(value)
