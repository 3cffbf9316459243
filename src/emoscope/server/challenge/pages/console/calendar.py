"""A calendar of the phases, month by month."""

from calendar import Calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from emoscope.server.challenge.views import PhaseView


@dataclass(frozen=True, slots=True)
class PhaseOnDay:
    """A phase on a day, and whether it opens or closes then."""

    index: int
    title: str
    opens: bool
    closes: bool


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the grid; `inside` if it belongs to the month shown."""

    date: date
    inside: bool
    today: bool
    marks: tuple[PhaseOnDay, ...]


@dataclass(frozen=True, slots=True)
class Month:
    """A month in weeks, and the months before and after as `2030-05`."""

    title: str
    weeks: tuple[tuple[Day, ...], ...]
    before: str
    after: str


def month_of(phases: Sequence[PhaseView], now: datetime, text: str = "") -> Month:
    """The month named by `text`, such as `2030-05`, by default the current one or the nearest with a phase.

    >>> month_of([], datetime(2030, 5, 1, tzinfo=UTC)).title
    'May 2030'
    """
    first = _parsed(text) or _fitting(phases, now).replace(day=1)
    weeks = Calendar().monthdatescalendar(first.year, first.month)
    spans = [_days(phase) for phase in phases]
    grid = tuple(
        tuple(
            Day(
                day,
                day.month == first.month,
                day == now.date(),
                tuple(
                    PhaseOnDay(index, phase.title, day == span[0], day == span[1])
                    for index, (phase, span) in enumerate(zip(phases, spans, strict=True))
                    if span is not None and span[0] <= day <= (span[1] or date.max)
                ),
            )
            for day in week
        )
        for week in weeks
    )
    before, after = first - timedelta(days=1), first + timedelta(days=32)
    return Month(f"{first:%B %Y}", grid, f"{before:%Y-%m}", f"{after:%Y-%m}")


def _parsed(text: str) -> date | None:
    try:
        month = datetime.strptime(text, "%Y-%m").replace(tzinfo=UTC).date()
    except ValueError:
        return None
    return month if 1900 < month.year < 9000 else None


def _fitting(phases: Sequence[PhaseView], now: datetime) -> date:
    """Today, unless all phases with times are in later or in earlier months."""
    spans = [span for span in map(_days, phases) if span is not None]
    today = now.date()
    if spans and all((begin.year, begin.month) > (today.year, today.month) for begin, _ in spans):
        return min(begin for begin, _ in spans)
    ends = [end for _, end in spans if end is not None]
    if spans and len(ends) == len(spans) and (max(ends).year, max(ends).month) < (today.year, today.month):
        return max(ends)
    return today


def _days(phase: PhaseView) -> tuple[date, date | None] | None:
    """The first and last day of a phase in its time zone; one that closes at midnight ends on the day before."""
    if phase.opens is None:
        return None
    zone = ZoneInfo(phase.time_zone)
    begin = phase.opens.astimezone(zone).date()
    if phase.closes is None:
        return begin, None
    return begin, max(begin, (phase.closes - timedelta(seconds=1)).astimezone(zone).date())
