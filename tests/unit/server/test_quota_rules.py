"""The limits of a quota, to the submission and to the second."""

from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from emoscope.server.challenge.services.quotas import check_accepted, check_rejected, days_running, local_day
from emoscope.server.errors import QuotaExceeded

NOON = datetime(2019, 1, 5, 12, tzinfo=UTC)


def quota(**changes: Any) -> Any:
    """A quota of two a day and five in all, of which nothing is used."""
    usual = {"phase": "final", "day": "2019-01-05", "per_day": 2, "total": 5, "rejected_per_day": 3}
    used = {"used_today": 0, "used_total": 0, "rejected_today": 0, "next_day": datetime(2019, 1, 6, tzinfo=UTC)}
    return SimpleNamespace(**{**usual, **used, **changes})


@pytest.mark.parametrize("used", [(0, 0), (1, 4), (1, 1)])
def test_below_both_caps_a_submission_is_accepted(used: tuple[int, int]) -> None:
    check_accepted(quota(used_today=used[0], used_total=used[1]), NOON)


def test_without_a_cap_on_the_phase_only_the_day_counts() -> None:
    check_accepted(quota(total=None, used_today=1, used_total=900), NOON)
    with pytest.raises(QuotaExceeded):
        check_accepted(quota(total=None, used_today=2, used_total=2), NOON)


@pytest.mark.parametrize("used", [2, 3])
def test_daily_cap_is_enforced_and_says_when_it_resets(used: int) -> None:
    with pytest.raises(QuotaExceeded) as refused:
        check_accepted(quota(used_today=used, used_total=used), NOON)
    assert str(refused.value) == "the team has used its 2 submissions for 2019-01-05 in phase final"
    assert refused.value.retry_after == 12 * 3600


def test_a_cap_of_one_is_one_submission() -> None:
    with pytest.raises(QuotaExceeded, match="the team has used its 1 submission for 2019-01-05 in phase final"):
        check_accepted(quota(per_day=1, used_today=1), NOON)


@pytest.mark.parametrize("used", [5, 6])
def test_phase_cap_is_final(used: int) -> None:
    with pytest.raises(QuotaExceeded) as refused:
        check_accepted(quota(used_today=0, used_total=used), NOON)
    assert str(refused.value) == "the team has used all 5 submissions of phase final"
    assert refused.value.retry_after is None


def test_refused_files_have_a_cap_of_their_own() -> None:
    check_rejected(quota(rejected_today=2), NOON)
    with pytest.raises(QuotaExceeded, match="limit of 3 rejected files on 2019-01-05") as refused:
        check_rejected(quota(rejected_today=3), NOON)
    assert refused.value.retry_after == 12 * 3600


@pytest.mark.parametrize(("second", "microsecond", "wait"), [(59, 0, 1), (58, 1, 2), (59, 999_999, 1)])
def test_the_wait_is_rounded_up_and_never_nothing(second: int, microsecond: int, wait: int) -> None:
    late = datetime(2019, 1, 5, 23, 59, second, microsecond, tzinfo=UTC)
    with pytest.raises(QuotaExceeded) as refused:
        check_accepted(quota(used_today=2), late)
    assert refused.value.retry_after == wait


def phase(opens: datetime | None, closes: datetime | None = None, zone: str = "UTC") -> Any:
    return SimpleNamespace(opens_at=opens, closes_at=closes, time_zone=zone)


def test_a_day_is_that_of_the_phase() -> None:
    late = datetime(2019, 1, 5, 23, 30, tzinfo=UTC)
    assert local_day(phase(None), late) == date(2019, 1, 5)
    assert local_day(phase(None, zone="Europe/Berlin"), late) == date(2019, 1, 6)


def test_days_running_counts_the_first_and_today_and_stops_at_the_close() -> None:
    opened, closed = datetime(2019, 1, 3, 18, tzinfo=UTC), datetime(2019, 1, 4, 9, tzinfo=UTC)
    assert days_running(phase(None), NOON) == 0
    assert days_running(phase(opened), datetime(2019, 1, 3, 17, 59, tzinfo=UTC)) == 0
    assert days_running(phase(opened), opened) == 1
    assert days_running(phase(opened), NOON) == 3
    assert days_running(phase(opened, closed), NOON) == 2
    assert days_running(phase(opened, datetime(2019, 2, 1, tzinfo=UTC)), NOON) == 3
