"""Submission quotas, counted from the submissions themselves so that they cannot drift.

Quotas are checked under the team's row lock (on SQLite, the write lock), so parallel uploads are counted one by one.
"""

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from emoscope.server.challenge.views import QuotaView
from emoscope.server.errors import QuotaExceeded
from emoscope.server.store.models import Phase, Submission


def local_day(phase: Phase, moment: datetime) -> date:
    """The date of a moment in the phase's time zone."""
    return moment.astimezone(ZoneInfo(phase.time_zone)).date()


def usage(session: Session, phase: Phase, team_ids: Sequence[int], now: datetime) -> QuotaView:
    """The quota that these teams have used in total."""
    today_date = local_day(phase, now)
    day = today_date.isoformat()
    mine = (Submission.phase_id == phase.id, Submission.team_id.in_(team_ids))
    today = (*mine, Submission.day == day)
    used_today = session.scalar(select(func.count()).where(*today, Submission.charged)) or 0
    used_total = session.scalar(select(func.count()).where(*mine, Submission.charged)) or 0
    rejected = session.scalar(select(func.count()).where(*today, Submission.state == "rejected")) or 0
    left = phase.per_day - used_today
    if phase.total is not None:
        left = min(left, phase.total - used_total)
    return QuotaView.of(
        phase,
        phase=phase.name,
        day=day,
        used_today=used_today,
        used_total=used_total,
        rejected_today=rejected,
        left_today=max(0, left),
        next_day=datetime.combine(today_date + timedelta(days=1), time(), ZoneInfo(phase.time_zone)),
    )


def check_accepted(quota: QuotaView, now: datetime) -> None:
    """Refuse another submission if the daily or total limit is reached."""
    if quota.total is not None and quota.used_total >= quota.total:
        raise QuotaExceeded(f"the team has used all {quota.total:,} submissions of phase {quota.phase}", None)
    if quota.used_today >= quota.per_day:
        raise QuotaExceeded(
            f"the team has used its {_submissions(quota.per_day)} for {quota.day} in phase {quota.phase}",
            _seconds(quota, now),
        )


def check_rejected(quota: QuotaView, now: datetime) -> None:
    """Refuse another file if too many were rejected today."""
    if quota.rejected_today >= quota.rejected_per_day:
        raise QuotaExceeded(
            f"the team has reached the limit of {quota.rejected_per_day:,} rejected files on {quota.day}; "
            "check files with `emoscope verify` before you submit them",
            _seconds(quota, now),
        )


def _submissions(number: int) -> str:
    return f"{number:,} submission{'' if number == 1 else 's'}"


def _seconds(quota: QuotaView, now: datetime) -> int:
    return max(1, math.ceil((quota.next_day - now).total_seconds()))


def days_running(phase: Phase, now: datetime) -> int:
    """The number of days a phase has been open so far, including today."""
    if phase.opens_at is None or now < phase.opens_at:
        return 0
    end = now if phase.closes_at is None else min(now, phase.closes_at)
    return (local_day(phase, end) - local_day(phase, phase.opens_at)).days + 1
