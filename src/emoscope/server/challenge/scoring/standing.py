"""Which submission of each team counts, and the order of the teams."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select
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
        """Whether there is a present score."""
        return self.result is not None and not self.stale


class _Scored(NamedTuple):
    """What decides whether a submission counts; light, as there may be thousands."""

    id: int
    failed: bool
    result_id: int | None
    fresh: bool
    score: float  # by which the team's best is found
    chosen: float = 0.0  # when the team chose it


def standings(session: Session, phase: Phase, scorer: str, *, final: bool = True) -> list[TeamStanding]:
    """All teams: those with a score first, best first and the earliest first among equals, then the others.

    The final standing is by the score on what decides; a team's best submission is the one that is best on the public
    part, where there is one. The standing while a board is open follows from the told scores alone, so that it tells no
    more than they do. A result of other code or other gold is stale, and not ranked until it is rescored.
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
    counting = {one.id: one for one in (_counting(phase, list(entries.values())) for entries in teams.values())}
    result_ids = [one.result_id for one in counting.values() if one.result_id is not None]
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


def _counting(phase: Phase, entries: list[_Scored]) -> _Scored:
    """The one of a team's submissions, in the order they were received, that counts."""
    if phase.counts == "last":
        return next((one for one in reversed(entries) if not one.failed), entries[-1])
    if chosen := [one for one in entries if one.chosen and not one.failed]:
        return max(chosen, key=lambda one: one.chosen)
    if any(one.result_id is not None for one in entries):
        # The first of equals.
        return max(entries, key=lambda one: (one.fresh, one.result_id is not None, round(one.score, 12)))
    return entries[-1]


def fingerprint(ranked: Sequence[Submission], phase: Phase, scorer: str) -> str:
    """A hash of everything a comparison of the ranked submissions depends on."""
    parts = [scorer, phase.gold_sha256, *(submission.public_id for submission in ranked)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
