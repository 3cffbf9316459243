"""A calendar of the phases, month by month."""

from calendar import Calendar
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from emoscope.server.challenge.views import PhaseView


def month_of(phases: Sequence[PhaseView], now: datetime, text: str = "") -> dict[str, Any]:
    """The month named by `text`, such as `2030-05`, by default the current one or the nearest with a phase.

    It has weeks of days with the phases on them, `inside` the month or not, and the months before and after.

    >>> month_of([], datetime(2030, 5, 1, tzinfo=UTC))["title"]
    'May 2030'
    """
    first = _parsed(text) or _fitting(phases, now).replace(day=1)
    spans = [_days(phase) for phase in phases]

    def day_of(day: date) -> dict[str, Any]:
        marks = [
            {"index": index, "title": phase.title, "opens": day == span[0], "closes": day == span[1]}
            for index, (phase, span) in enumerate(zip(phases, spans, strict=True))
            if span is not None and span[0] <= day <= (span[1] or date.max)
        ]
        return {"date": day, "inside": day.month == first.month, "today": day == now.date(), "marks": marks}

    before, after = first - timedelta(days=1), first + timedelta(days=32)
    return {
        "title": f"{first:%B %Y}",
        "weeks": [list(map(day_of, week)) for week in Calendar().monthdatescalendar(first.year, first.month)],
        "before": f"{before:%Y-%m}",
        "after": f"{after:%Y-%m}",
    }


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
