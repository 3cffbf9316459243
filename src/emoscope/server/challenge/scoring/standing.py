"""Which submission of each team counts, and the order of the teams."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, select, true
from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.public_part import resolution_of
from emoscope.server.store.models import Phase, Result, Submission, Team


@dataclass(frozen=True, slots=True)
class TeamStanding:
    """A team on the board: the submission that counts, and its score if it has one that is not stale."""

    team: Team
    submission: Submission
    result: Result | None
    stale: bool
    submissions: int

    @property
    def ranked(self) -> bool:
        """Whether the team has a current score."""
        return self.result is not None and not self.stale


class _Scored(NamedTuple):
    """What decides whether a submission counts; small, as there may be thousands."""

    id: int
    failed: bool
    result_id: int | None
    fresh: bool
    score: float  # that decides which of the team's submissions is best
    chosen: float = 0.0  # when the team chose it


def standings(session: Session, phase: Phase, scorer: str, *, final: bool = True) -> list[TeamStanding]:
    """All teams: those with a score by score, ties by time, then the others.

    The final standing is by the score on the private part; a team's best submission is still the one that is best on
    the public part, if there is one. The provisional standing uses rounded scores only, so that it reveals no
    more. A result of other code or other gold is stale, and not ranked until it is rescored. Submissions since the
    labels came out do not count.
    """
    resolution = resolution_of(phase)

    def known(score: float | None, public: float | None) -> float:
        value = (score or 0.0) if public is None else public
        return value if final else resolution.rounded(value)

    def order(standing: TeamStanding) -> tuple[bool, float, float, int]:
        score, result = 0.0, standing.result
        if standing.ranked and result is not None:
            score = result.score if final else known(result.score, result.public_score)
        sent = standing.submission
        return (not standing.ranked, -round(score, 12), sent.received_at.timestamp(), sent.id)

    is_fresh = (Result.scorer_sha256 == scorer) & (Result.gold_sha256 == phase.gold_sha256)
    sent = (
        select(
            Submission.team_id,
            Submission.id,
            Submission.state,
            Submission.chosen_at,
            Result.id,
            is_fresh,
            Result.score,
            Result.public_score,
        )
        .join(Submission.team)
        .outerjoin(Submission.results)
        .where(
            Submission.phase_id == phase.id,
            Submission.state != "rejected",
            Submission.deleted_at.is_(None),
            Team.deleted_at.is_(None),
            Team.disqualified_for.is_(None),
            in_time(phase),
        )
        .order_by(Submission.received_at, Submission.id, Result.id)
    )
    teams: dict[int, dict[int, _Scored]] = defaultdict(dict)
    for team_id, submission_id, state, chosen, result_id, fresh, score, public in session.execute(sent):
        earlier = teams[team_id].get(submission_id)
        if earlier is None or not earlier.fresh:
            value, when = known(score, public), 0.0 if chosen is None else chosen.timestamp()
            entry = _Scored(submission_id, state == "failed", result_id, bool(fresh), value, when)
            teams[team_id][submission_id] = entry
    counted = (_counting(phase, list(entries.values())) for entries in teams.values())
    counting = {entry.id: entry for entry in counted}
    result_ids = [entry.result_id for entry in counting.values() if entry.result_id is not None]
    query = (
        select(Submission, Team, Result)
        .join(Submission.team)
        .outerjoin(Result, (Result.submission_id == Submission.id) & Result.id.in_(result_ids))
        .where(Submission.id.in_(counting))
    )
    unordered = [
        TeamStanding(
            team, submission, result, result is not None and not counting[submission.id].fresh, len(teams[team.id])
        )
        for submission, team, result in session.execute(query)
    ]
    return sorted(unordered, key=order)


def in_time(phase: Phase) -> ColumnElement[bool]:
    """A condition: submissions received before the phase's labels came out."""
    return true() if phase.labels_at is None else Submission.received_at < phase.labels_at


def _counting(phase: Phase, entries: list[_Scored]) -> _Scored:
    """The submission that counts, of a team's submissions in the order they were received."""
    if phase.counts == "last":
        return next((entry for entry in reversed(entries) if not entry.failed), entries[-1])
    if chosen := [entry for entry in entries if entry.chosen and not entry.failed]:
        return max(chosen, key=lambda entry: entry.chosen)
    if any(entry.result_id is not None for entry in entries):
        return max(entries, key=lambda entry: (entry.fresh, entry.result_id is not None, round(entry.score, 12)))
    return entries[-1]


def fingerprint(ranked: Sequence[Submission], phase: Phase, scorer: str) -> str:
    """A hash of everything that a comparison of the ranked submissions depends on."""
    parts = [scorer, phase.gold_sha256, *(submission.public_id for submission in ranked)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
