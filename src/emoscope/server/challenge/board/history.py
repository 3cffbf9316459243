"""Each team's score over time: as the board showed it, or as if the phase had closed at that moment."""

from collections import defaultdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.public_part import resolution_of
from emoscope.server.challenge.views import HistoryPoint
from emoscope.server.store.models import Phase, Result, Submission


def histories(session: Session, phase: Phase, scorer: str, *, final: bool) -> dict[int, tuple[HistoryPoint, ...]]:
    """The score that counted for each team from each moment on.

    While the board is provisional these are rounded scores that it has shown, so they reveal nothing more.
    """
    resolution = resolution_of(phase)
    query = (
        select(Submission.team_id, Submission.received_at, Submission.chosen_at, Result.score, Result.public_score)
        .join(Result, Result.submission_id == Submission.id)
        .where(
            Submission.phase_id == phase.id,
            Submission.deleted_at.is_(None),
            Result.scorer_sha256 == scorer,
            Result.gold_sha256 == phase.gold_sha256,
        )
        .order_by(Submission.received_at, Submission.id)
    )
    points: dict[int, list[HistoryPoint]] = defaultdict(list)
    best: dict[int, float] = {}
    chosen: dict[int, HistoryPoint] = {}
    for team, received, chosen_at, score, public in session.execute(query):
        known = score if public is None else public
        known = round(known if final else resolution.rounded(known), 12)
        shown = score if final else known
        if phase.counts == "last" or team not in best or known > best[team]:
            best[team] = known
            points[team].append(HistoryPoint(at=received, score=shown))
        if chosen_at is not None and (team not in chosen or chosen_at > chosen[team].at):
            chosen[team] = HistoryPoint(at=chosen_at, score=shown)
    for team, choice in chosen.items():
        points[team] = [point for point in points[team] if point.at < choice.at] + [choice]
    return {team: tuple(history) for team, history in points.items()}
