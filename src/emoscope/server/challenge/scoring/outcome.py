"""The outcomes of a job: each is one transaction, and only for the worker that still holds the lease."""

import math
from datetime import timedelta
from typing import Any

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


def keep_score(store: Store, claimed: Job, answer: dict[str, Any]) -> bool:
    """Save a score; False if the job was lost to another worker meanwhile."""
    figures = [answer["score"], answer["low"], answer["high"]]
    if not all(isinstance(value, float) and math.isfinite(value) for value in figures):
        return fail(store, claimed, "the scorer gave no finite score")
    now = store.clock()
    with store.database.write() as session:
        job = held_job(session, claimed)
        if job is None or claimed.submission_id is None:
            return False
        submission = session.get_one(Submission, claimed.submission_id)
        session.add(
            Result(
                submission_id=submission.id,
                scorer_sha256=claimed.scorer_sha256,
                gold_sha256=claimed.gold_sha256,
                score=answer["score"],
                figures={key: answer[key] for key in ("low", "high", "per_class")},
                created_at=now,
            )
        )
        submission.state = "scored"
        job.state, job.finished_at = "done", now
        log(session, submission.id, now, "scored")
        queue_comparison(session, claimed.phase_id, now)
        return True


def fail(store: Store, claimed: Job, reason: str) -> bool:
    """Try again later, or give up after the last attempt and refund the team's submission."""
    now = store.clock()
    with store.database.write() as session:
        job = held_job(session, claimed)
        if job is None:
            return False
        last = claimed.attempts >= MAX_ATTEMPTS or claimed.lost > MAX_LOST
        job.state = "failed" if last else "queued"
        job.finished_at = now if last else None
        job.not_before = now + timedelta(seconds=2**claimed.attempts)
        if claimed.submission_id is None:
            return True
        submission = session.get_one(Submission, claimed.submission_id)
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
        return True


def supersede(store: Store, claimed: Job, scorer: str) -> bool:
    """Replace a job for former code or gold by one for the present; this is not a failed attempt."""
    now = store.clock()
    with store.database.write() as session:
        job = held_job(session, claimed)
        if job is None or claimed.submission_id is None:
            return False
        submission = session.get_one(Submission, claimed.submission_id)
        job.state, job.finished_at = "superseded", now
        if submission.state == "scoring":
            submission.state = "queued"
        queue_scoring(session, submission, submission.phase, scorer, now)
        log(session, submission.id, now, "scorer or gold have changed since; queued for the present ones")
        return True


def keep_comparison(store: Store, claimed: Job, compared: str, answer: dict[str, Any]) -> bool:
    """Save clusters and column B, and queue another comparison if the standing has changed meanwhile."""
    now = store.clock()
    with store.database.write() as session:
        job = held_job(session, claimed)
        if job is None:
            return False
        phase = session.get_one(Phase, claimed.phase_id)
        rows = {row["name"]: {key: row[key] for key in ("cluster", "first_different")} for row in answer["rows"]}
        session.merge(BoardComparison(phase_id=phase.id, fingerprint=compared, rows=rows, created_at=now))
        scorer = scorer_sha256(phase.challenge.task, phase.challenge.metric)
        ranked = [standing.submission for standing in standings(session, phase, scorer) if standing.ranked]
        if fingerprint(ranked, phase, scorer) == compared:
            job.state, job.finished_at = "done", now
        else:
            job.state, job.attempts, job.lost, job.not_before = "queued", 0, 0, now
        return True
