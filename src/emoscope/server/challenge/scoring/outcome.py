"""The outcomes of a job: each is one transaction, and only for the worker that still holds the lease."""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec

from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.queue import (
    MAX_ATTEMPTS,
    MAX_LOST,
    held_job,
    log,
    queue_comparison,
    queue_scoring,
)
from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.scoring.standing import fingerprint, standings
from emoscope.server.challenge.services.audit import record
from emoscope.server.store import Store
from emoscope.server.store.models import BoardComparison, Job, Phase, Result, Submission

P = ParamSpec("P")


def _outcome(decide: Callable[Concatenate[Session, Store, Job, P], None]) -> Callable[Concatenate[Store, Job, P], bool]:
    """Run a decision in one transaction; False if the job was lost to another worker meanwhile."""

    def run(store: Store, claimed: Job, /, *arguments: P.args, **options: P.kwargs) -> bool:
        with store.database.write() as session:
            job = held_job(session, claimed)
            if job is not None:
                decide(session, store, job, *arguments, **options)
            return job is not None

    return run


def keep_score(store: Store, claimed: Job, answer: dict[str, Any]) -> bool:
    """Save a score; False if the job was lost to another worker meanwhile."""
    figures = [answer["score"], answer["low"], answer["high"]]
    if not all(isinstance(value, float) and math.isfinite(value) for value in figures):
        return fail(store, claimed, "the scorer gave no finite score")
    return _keep_score(store, claimed, answer)


@_outcome
def _keep_score(session: Session, store: Store, job: Job, answer: dict[str, Any]) -> None:
    now = store.clock()
    submission = session.get_one(Submission, job.submission_id)
    result = Result(
        submission_id=submission.id,
        scorer_sha256=job.scorer_sha256,
        gold_sha256=job.gold_sha256,
        score=answer["score"],
        figures={key: answer[key] for key in ("low", "high", "per_class")},
        created_at=now,
    )
    session.add(result)
    submission.state = "scored"
    job.state, job.finished_at = "done", now
    log(session, submission.id, now, "scored")
    queue_comparison(session, job.phase_id, now)


@_outcome
def fail(session: Session, store: Store, job: Job, reason: str) -> None:
    """Try again later, or give up after the last attempt and refund the team's submission."""
    now = store.clock()
    last = job.attempts >= MAX_ATTEMPTS or job.lost > MAX_LOST
    job.state = "failed" if last else "queued"
    job.finished_at = now if last else None
    job.not_before = now + timedelta(seconds=2**job.attempts)
    if job.submission_id is None:
        return
    submission = session.get_one(Submission, job.submission_id)
    if submission.state == "scored":  # it has a score; making it anew is what failed
        log(session, submission.id, now, f"could not be scored anew: {reason}")
    elif last:
        submission.state, submission.charged = "failed", False
        log(session, submission.id, now, f"failed: {reason}; the submission was given back")
    else:
        submission.state = "queued"
        log(session, submission.id, now, f"attempt failed: {reason}")
    if last:
        thing, challenge_id = f"submission {submission.public_id}", submission.phase.challenge_id
        record(session, store, "worker", "submission.fail", thing, challenge_id=challenge_id, reason=reason[:300])


@_outcome
def supersede(session: Session, store: Store, job: Job, scorer: str) -> None:
    """Replace a job for former code or gold by one for the present; this is not a failed attempt."""
    now = store.clock()
    submission = session.get_one(Submission, job.submission_id)
    job.state, job.finished_at = "superseded", now
    if submission.state == "scoring":
        submission.state = "queued"
    queue_scoring(session, submission, submission.phase, scorer, now)
    log(session, submission.id, now, "scorer or gold have changed since; queued for the present ones")


@_outcome
def keep_comparison(session: Session, store: Store, job: Job, compared: str, answer: dict[str, Any]) -> None:
    """Save clusters and column B, and queue another comparison if the standing has changed meanwhile."""
    now = store.clock()
    phase = session.get_one(Phase, job.phase_id)
    rows = {row["name"]: {key: row[key] for key in ("cluster", "first_different")} for row in answer["rows"]}
    session.merge(BoardComparison(phase_id=phase.id, fingerprint=compared, rows=rows, created_at=now))
    scorer = scorer_sha256(phase.challenge.task, phase.challenge.metric)
    ranked = [standing.submission for standing in standings(session, phase, scorer) if standing.ranked]
    if fingerprint(ranked, phase, scorer) == compared:
        job.state, job.finished_at = "done", now
    else:
        job.state, job.attempts, job.lost, job.not_before = "queued", 0, 0, now
