"""Submissions as views, with only what the actor may see."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.lookup import board_visible
from emoscope.server.challenge.views import Figures, LogLine, SubmissionState, SubmissionView
from emoscope.server.store.models import Challenge, LogEntry, Member, Phase, Result, Submission, Team

# Databases take a limited number of values in one query.
_AT_ONCE = 5_000


def view(
    session: Session,
    actor: Actor,
    submission: Submission,
    now: datetime,
    *,
    with_log: bool = False,
    repeated: bool = False,
) -> SubmissionView:
    """One submission; its figures only for those who may see scores now."""
    return next(views(session, actor, [submission], now, with_log=with_log, repeated=repeated))


def views(
    session: Session,
    actor: Actor,
    submissions: Sequence[Submission],
    now: datetime,
    *,
    with_log: bool = False,
    repeated: bool = False,
) -> Iterator[SubmissionView]:
    """Submissions in this order, with a few queries for all of them."""
    scorers: dict[int, str] = {}
    for start in range(0, len(submissions), _AT_ONCE):
        part = submissions[start : start + _AT_ONCE]
        ids = [submission.id for submission in part]
        results: dict[int, list[Result]] = defaultdict(list)
        for result in session.scalars(select(Result).where(Result.submission_id.in_(ids)).order_by(Result.id.desc())):
            results[result.submission_id].append(result)
        log: dict[int, list[LogLine]] = defaultdict(list)
        if with_log:
            lines = select(LogEntry).where(LogEntry.submission_id.in_(ids)).order_by(LogEntry.id)
            for line in session.scalars(lines):
                log[line.submission_id].append(LogLine(line.at, line.text))
        teams = {team.id: team for team in session.scalars(select(Team).where(Team.id.in_({s.team_id for s in part})))}
        members = select(Member).where(Member.id.in_({submission.member_id for submission in part}))
        people = {member.id: member for member in session.scalars(members)}
        for submission in part:
            phase = session.get_one(Phase, submission.phase_id)
            challenge = session.get_one(Challenge, phase.challenge_id)
            if challenge.id not in scorers:
                scorers[challenge.id] = scorer_sha256(challenge.task, challenge.metric)
            shown, stale = _latest(results[submission.id], phase, scorers[challenge.id])
            yield SubmissionView(
                id=submission.public_id,
                challenge=challenge.slug,
                phase=phase.name,
                team=teams[submission.team_id].name,
                member=people[submission.member_id].name,
                file_name=submission.file_name,
                size=submission.size,
                sha256=submission.sha256,
                note=submission.note,
                received=submission.received_at,
                state=cast(SubmissionState, submission.state),
                problems=tuple(submission.problems),
                figures=figures_of(shown) if shown is not None and board_visible(actor, phase, now) else None,
                stale=stale,
                deleted=submission.deleted_at is not None,
                charged=submission.charged,
                log=tuple(log[submission.id]),
                repeated=repeated,
            )


def _latest(results: Sequence[Result], phase: Phase, scorer: str) -> tuple[Result | None, bool]:
    """The result of the present code and gold, or else the newest, and whether it is stale."""
    for result in results:
        if result.scorer_sha256 == scorer and result.gold_sha256 == phase.gold_sha256:
            return result, False
    return (results[0], True) if results else (None, False)


def figures_of(result: Result) -> Figures:
    """The figures of a result."""
    return Figures(result.score, **result.figures)
