"""Submissions as views, with only what the actor may see."""

from datetime import datetime

from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.lookup import board_visible
from emoscope.server.challenge.views import Figures, LogLine, SubmissionView
from emoscope.server.store.models import Result, Submission


def submission_view(
    actor: Actor, submission: Submission, scorer: str, now: datetime, *, with_log: bool = False
) -> SubmissionView:
    """A submission; its figures only for those who may see scores now.

    They are of the present code and gold, or else of the newest result, which is stale then.
    """
    phase = submission.phase
    present = (scorer, phase.gold_sha256)
    fresh = [one for one in submission.results if (one.scorer_sha256, one.gold_sha256) == present]
    newest = next(iter(fresh or submission.results), None)
    return SubmissionView.of(
        submission,
        id=submission.public_id,
        challenge=phase.challenge.slug,
        phase=phase.name,
        team=submission.team.name,
        member=submission.member.name,
        received=submission.received_at,
        problems=tuple(submission.problems),
        figures=figures_of(newest) if newest is not None and board_visible(actor, phase, now) else None,
        stale=newest is not None and not fresh,
        deleted=submission.deleted_at is not None,
        log=tuple(LogLine.of(line) for line in submission.log) if with_log else (),
    )


def figures_of(result: Result) -> Figures:
    """The figures of a result."""
    return Figures(result.score, **result.figures)
