"""What becomes of a job: each outcome is one transaction, and only of the worker that still holds the lease."""

import math
from datetime import timedelta
from typing import Any

from emoscope.server.challenge.scoring.queue import (
    MAX_ATTEMPTS,
    MAX_LOST,
    Claim,
    held_job,
    log,
    queue_comparison,
    queue_scoring,
)
from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.scoring.standing import fingerprint, standings
from emoscope.server.store import Store
from emoscope.server.store.models import AuditEntry, BoardComparison, Challenge, Phase, Result, Submission


def keep_score(store: Store, held: Claim, answer: dict[str, Any]) -> bool:
    """Keep a score. False if the job was lost meanwhile, and so the score is another's to keep."""
    figures = [answer["score"], answer["low"], answer["high"]]
    if not all(isinstance(value, float) and math.isfinite(value) for value in figures):
        return fail(store, held, "the scorer gave no finite score")
    now = store.clock()
    with store.database.write() as session:
        job = held_job(session, held)
        if job is None or held.submission_id is None:
            return False
        submission = session.get_one(Submission, held.submission_id)
        session.add(
            Result(
                submission_id=submission.id,
                scorer_sha256=held.scorer_sha256,
                gold_sha256=held.gold_sha256,
                score=answer["score"],
                figures={key: answer[key] for key in ("low", "high", "per_class")},
                created_at=now,
            )
        )
        submission.state = "scored"
        job.state, job.finished_at = "done", now
        log(session, submission.id, now, "scored")
        queue_comparison(session, held.phase_id, now)
        return True


def fail(store: Store, held: Claim, reason: str) -> bool:
    """Try again later, or after the last attempt give up and give the team its submission back."""
    now = store.clock()
    with store.database.write() as session:
        job = held_job(session, held)
        if job is None:
            return False
        last = held.attempt >= MAX_ATTEMPTS or held.lost > MAX_LOST
        job.state = "failed" if last else "queued"
        job.finished_at = now if last else None
        job.not_before = now + timedelta(seconds=2**held.attempt)
        if held.submission_id is None:
            return True
        submission = session.get_one(Submission, held.submission_id)
        if submission.state == "scored":  # it has a score; making it anew is what failed
            log(session, submission.id, now, f"could not be scored anew: {reason}")
        elif last:
            submission.state, submission.charged = "failed", False
            log(session, submission.id, now, f"failed: {reason}; the submission was given back")
        else:
            submission.state = "queued"
            log(session, submission.id, now, f"attempt failed: {reason}")
        if last:
            phase = session.get_one(Phase, held.phase_id)
            session.add(
                AuditEntry(
                    at=now,
                    actor="worker",
                    action="submission.fail",
                    object=f"submission {submission.public_id}",
                    challenge_id=phase.challenge_id,
                    detail={"reason": reason[:300]},
                )
            )
        return True


def supersede(store: Store, held: Claim, scorer: str) -> bool:
    """Put a job for the present code and gold in the place of one for former ones; it is no failed attempt."""
    now = store.clock()
    with store.database.write() as session:
        job = held_job(session, held)
        if job is None or held.submission_id is None:
            return False
        submission = session.get_one(Submission, held.submission_id)
        phase = session.get_one(Phase, held.phase_id)
        job.state, job.finished_at = "superseded", now
        if submission.state == "scoring":
            submission.state = "queued"
        queue_scoring(session, submission, phase, scorer, now)
        log(session, submission.id, now, "scorer or gold have changed since; queued for the present ones")
        return True


def keep_comparison(store: Store, held: Claim, compared: str, answer: dict[str, Any]) -> bool:
    """Keep clusters and column B, and go on at once if the standing has changed since."""
    now = store.clock()
    with store.database.write() as session:
        job = held_job(session, held)
        if job is None:
            return False
        phase = session.get_one(Phase, held.phase_id)
        kept = session.get(BoardComparison, phase.id)
        rows = {row["name"]: {key: row[key] for key in ("cluster", "first_different")} for row in answer["rows"]}
        if kept is None:
            session.add(BoardComparison(phase_id=phase.id, fingerprint=compared, rows=rows, created_at=now))
        else:
            kept.fingerprint, kept.rows, kept.created_at = compared, rows, now
        challenge = session.get_one(Challenge, phase.challenge_id)
        scorer = scorer_sha256(challenge.task, challenge.metric)
        ranked = [standing for standing in standings(session, phase, scorer) if standing.ranked]
        if fingerprint(ranked, phase, scorer) == compared:
            job.state, job.finished_at = "done", now
        else:
            job.state, job.attempts, job.lost, job.not_before = "queued", 0, 0, now
        return True
