"""Durations in words."""

from datetime import timedelta


def remaining(time: timedelta) -> str:
    """A duration in its two largest units.

    >>> remaining(timedelta(days=3, hours=4, minutes=5)), remaining(timedelta(hours=1, seconds=20))
    ('3 days 4 hours', '1 hour')
    """
    minutes = max(0, int(time.total_seconds()) // 60)
    parts = [(minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    named = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts[:2] if count]
    return " ".join(named) or "less than a minute"
