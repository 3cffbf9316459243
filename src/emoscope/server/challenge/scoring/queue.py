"""The queue, in the database: a job is taken by lease, and whoever lets a lease run out loses the job to another."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from emoscope.server.store import Store
from emoscope.server.store.models import Job, LogEntry, Phase, Submission

MAX_ATTEMPTS = 3
# A worker that is gone says nothing about the job, so this may happen more often than an attempt may fail.
MAX_LOST = 20
# A comparison waits a little, so that a burst of scores makes one and not many.
_SETTLE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that is ours until the lease runs out."""

    job_id: int
    kind: str
    phase_id: int
    submission_id: int | None
    scorer_sha256: str | None
    gold_sha256: str | None
    lease: str
    attempt: int
    lost: int


def log(session: Session, submission_id: int, at: datetime, text: str) -> None:
    """Add a line to a submission's log."""
    session.add(LogEntry(submission_id=submission_id, at=at, text=text[:500]))


def queue_scoring(session: Session, submission: Submission, phase: Phase, scorer: str, now: datetime) -> bool:
    """Have a submission scored with this code and gold; False if that is queued or done already."""
    key = f"score:{submission.id}:{scorer}:{phase.gold_sha256}"
    fresh = _insert(
        session,
        key=key,
        kind="score",
        phase_id=phase.id,
        submission_id=submission.id,
        scorer_sha256=scorer,
        gold_sha256=phase.gold_sha256,
        state="queued",
        attempts=0,
        lost=0,
        not_before=now,
        created_at=now,
    )
    if fresh:
        return True
    job = session.scalars(select(Job).where(Job.key == key).with_for_update()).one()
    if job.state not in {"failed", "superseded"}:
        return False
    _requeue(job, now)
    return True


def queue_comparison(session: Session, phase_id: int, now: datetime) -> None:
    """Have a phase's board compared anew, once for all that changed meanwhile.

    The row is locked even where nothing is to be changed: the worker that is comparing holds it while it looks whether
    its standing is still the present one, so that it sees either our change or our wish.
    """
    key = f"compare:{phase_id}"
    later = now + _SETTLE
    values = {"kind": "compare", "phase_id": phase_id, "state": "queued", "attempts": 0, "lost": 0}
    if _insert(session, key=key, not_before=later, created_at=now, **values):
        return
    job = session.scalars(select(Job).where(Job.key == key).with_for_update()).one()
    if job.state in {"done", "failed"}:
        _requeue(job, later)


def _requeue(job: Job, due: datetime) -> None:
    job.state, job.attempts, job.lost, job.not_before, job.finished_at = "queued", 0, 0, due, None


def queue_comparisons(session: Session, challenge_id: int, now: datetime) -> None:
    """Have all boards of a challenge compared anew, where there are any."""
    played = select(Submission.phase_id).join(Phase, Submission.phase_id == Phase.id)
    for phase_id in sorted(set(session.scalars(played.where(Phase.challenge_id == challenge_id)))):
        queue_comparison(session, phase_id, now)


def _insert(session: Session, **values: Any) -> bool:
    """Add a job unless there is one with its key."""
    insert: Any = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    made = session.execute(
        insert(Job).values(**values).on_conflict_do_nothing(index_elements=["key"]).returning(Job.id)
    )
    return made.scalar() is not None


def claim(store: Store, lease_time: timedelta) -> Claim | None:
    """Take the next job that is due: scoring first, then the oldest. A job whose lease has run out is due again."""
    now = store.clock()
    with store.database.write() as session:
        due = ((Job.state == "queued") & (Job.not_before <= now)) | (
            (Job.state == "running") & (Job.leased_until < now)
        )
        query = select(Job).where(due).order_by(Job.kind.desc(), Job.id).limit(1).with_for_update(skip_locked=True)
        job = session.scalar(query)
        if job is None:
            return None
        taken_over = job.state == "running"
        job.lost += taken_over
        job.attempts += not taken_over
        job.state, job.lease, job.leased_until = "running", secrets.token_hex(16), now + lease_time
        if job.submission_id is not None:
            unfinished = (Submission.id == job.submission_id, Submission.state == "queued")
            session.execute(update(Submission).where(*unfinished).values(state="scoring"))
            lost = "; the worker before was lost" if taken_over else ""
            log(session, job.submission_id, now, f"scoring, attempt {job.attempts} of {MAX_ATTEMPTS}{lost}")
        return Claim(
            job_id=job.id,
            kind=job.kind,
            phase_id=job.phase_id,
            submission_id=job.submission_id,
            scorer_sha256=job.scorer_sha256,
            gold_sha256=job.gold_sha256,
            lease=job.lease,
            attempt=job.attempts,
            lost=job.lost,
        )


def extend(store: Store, held: Claim, lease_time: timedelta) -> bool:
    """The heartbeat: keep a job longer; False if it was lost to another worker."""
    with store.database.write() as session:
        ours = update(Job).where(Job.id == held.job_id, Job.lease == held.lease, Job.state == "running")
        kept = session.execute(ours.values(leased_until=store.clock() + lease_time).returning(Job.id))
        return kept.scalar() is not None


def release(store: Store, held: Claim) -> None:
    """Put a job back as if it had not been taken: the worker is going, and nothing is wrong with the job."""
    with store.database.write() as session:
        job = held_job(session, held)
        if job is None:
            return
        now = store.clock()
        job.state, job.attempts, job.not_before = "queued", max(0, job.attempts - 1), now
        if job.submission_id is not None:
            scoring = (Submission.id == job.submission_id, Submission.state == "scoring")
            session.execute(update(Submission).where(*scoring).values(state="queued"))
            log(session, job.submission_id, now, "put back, as the worker was stopped")


def held_job(session: Session, held: Claim) -> Job | None:
    """The job, locked, if it is still ours."""
    query = select(Job).where(Job.id == held.job_id, Job.lease == held.lease, Job.state == "running")
    return session.scalar(query.with_for_update())
