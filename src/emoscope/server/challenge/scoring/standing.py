"""Which submission of each team counts, and the order of the teams."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

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
        """Whether there is a present score."""
        return self.result is not None and not self.stale


@dataclass(frozen=True, slots=True)
class _Scored:
    """What decides whether a submission counts; light, as there may be thousands."""

    id: int
    failed: bool
    result_id: int | None = None
    fresh: bool = False
    score: float = 0.0

    @property
    def goodness(self) -> tuple[bool, bool, float]:
        return (self.fresh, self.result_id is not None, round(self.score, 12))


def standings(session: Session, phase: Phase, scorer: str) -> list[TeamStanding]:
    """All teams: those with a score first, best first and the earliest first among equals, then the others.

    A result of other code or other gold is stale, and not ranked until it is rescored.
    """
    teams = _sent(session, phase, _scores(session, phase, scorer))
    chosen = {team_id: _counting(phase, entries) for team_id, entries in teams.items()}
    by_id = {team.id: team for team in session.scalars(select(Team).where(Team.id.in_(chosen)))}
    counting = [one.id for one in chosen.values()]
    submissions = {one.id: one for one in session.scalars(select(Submission).where(Submission.id.in_(counting)))}
    result_ids = [one.result_id for one in chosen.values() if one.result_id is not None]
    results = {result.id: result for result in session.scalars(select(Result).where(Result.id.in_(result_ids)))}
    unordered = [
        TeamStanding(
            team=by_id[team_id],
            submission=submissions[one.id],
            result=None if one.result_id is None else results[one.result_id],
            stale=one.result_id is not None and not one.fresh,
            submissions=len(teams[team_id]),
        )
        for team_id, one in chosen.items()
    ]
    return sorted(unordered, key=_order)


def _scores(session: Session, phase: Phase, scorer: str) -> dict[int, tuple[int, bool, float]]:
    """By submission: its result's id, whether that is fresh, and the score; a fresh result wins over a stale one."""
    scores: dict[int, tuple[int, bool, float]] = {}
    query = (
        select(Result.id, Result.submission_id, Result.score, Result.scorer_sha256, Result.gold_sha256)
        .join(Submission, Result.submission_id == Submission.id)
        .where(Submission.phase_id == phase.id)
        .order_by(Result.id)
    )
    for result_id, submission_id, score, result_scorer, result_gold in session.execute(query):
        fresh = result_scorer == scorer and result_gold == phase.gold_sha256
        if fresh or submission_id not in scores or not scores[submission_id][1]:
            scores[submission_id] = (result_id, fresh, score)
    return scores


def _sent(session: Session, phase: Phase, scores: dict[int, tuple[int, bool, float]]) -> dict[int, list[_Scored]]:
    """By team: the submissions that can count, in the order they were received."""
    sent = (
        select(Submission.id, Submission.team_id, Submission.state)
        .join(Team, Submission.team_id == Team.id)
        .where(
            Submission.phase_id == phase.id,
            Submission.state != "rejected",
            Submission.deleted_at.is_(None),
            Team.deleted_at.is_(None),
        )
        .order_by(Submission.received_at, Submission.id)
    )
    teams: dict[int, list[_Scored]] = defaultdict(list)
    for submission_id, team_id, state in session.execute(sent):
        teams[team_id].append(_Scored(submission_id, state == "failed", *scores.get(submission_id, ())))
    return teams


def _counting(phase: Phase, entries: list[_Scored]) -> _Scored:
    """The one of a team's submissions, in the order they were received, that counts."""
    if phase.counts == "last":
        return next((one for one in reversed(entries) if not one.failed), entries[-1])
    if any(one.result_id is not None for one in entries):
        return max(entries, key=lambda one: one.goodness)  # the first of equals
    return entries[-1]


def _order(standing: TeamStanding) -> tuple[bool, float, float, int]:
    score = -round(standing.result.score, 12) if standing.ranked and standing.result is not None else 0.0
    return (not standing.ranked, score, standing.submission.received_at.timestamp(), standing.submission.id)


def fingerprint(ranked: Sequence[Submission], phase: Phase, scorer: str) -> str:
    """A hash of everything a comparison of the ranked submissions depends on."""
    parts = [scorer, phase.gold_sha256, *(submission.public_id for submission in ranked)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
