"""The job queue, in the database: a worker takes a job by lease, and loses it when the lease runs out."""

import secrets
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from emoscope.server.store import Store
from emoscope.server.store.models import Job, LogEntry, Phase, Submission

MAX_ATTEMPTS = 3
# A lost worker says little about the job, so this may happen more often than a failed attempt.
MAX_LOST = 20
# A comparison waits a little, so that a burst of scores causes only one.
_SETTLE = timedelta(seconds=2)


def log(session: Session, submission_id: int, at: datetime, text: str) -> None:
    """Add a line to a submission's log."""
    session.add(LogEntry(submission_id=submission_id, at=at, text=text[:500]))


def queue_scoring(session: Session, submission: Submission, phase: Phase, scorer: str, now: datetime) -> bool:
    """Queue a submission to be scored with this code and gold; False if that is queued or done already."""
    return _queue(
        session,
        key=f"score:{submission.id}:{scorer}:{phase.gold_sha256}",
        again={"failed", "superseded"},
        kind="score",
        phase_id=phase.id,
        submission_id=submission.id,
        scorer_sha256=scorer,
        gold_sha256=phase.gold_sha256,
        not_before=now,
        created_at=now,
    )


def queue_comparison(session: Session, phase_id: int, now: datetime) -> None:
    """Queue a new comparison of a phase's board, one for all changes until it runs.

    The row is locked even if nothing changes: a comparing worker holds it while it checks whether its standing is still
    current, so it sees either our change or our request.
    """
    key, due = f"compare:{phase_id}", now + _SETTLE
    again = {"done", "failed"}
    _queue(session, key=key, again=again, kind="compare", phase_id=phase_id, not_before=due, created_at=now)


def queue_comparisons(session: Session, challenge_id: int, now: datetime) -> None:
    """Queue new comparisons of all boards of a challenge that have submissions."""
    used = select(Submission.phase_id).join(Phase, Submission.phase_id == Phase.id)
    for phase_id in sorted(set(session.scalars(used.where(Phase.challenge_id == challenge_id)))):
        queue_comparison(session, phase_id, now)


def _queue(session: Session, *, key: str, again: set[str], not_before: datetime, **values: Any) -> bool:
    """Add a job, or queue the one with this key anew if it is in one of these states; False if it is in another."""
    insert: Any = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(Job).values(key=key, state="queued", attempts=0, lost=0, not_before=not_before, **values)
    inserted = session.execute(statement.on_conflict_do_nothing(index_elements=["key"]).returning(Job.id))
    if inserted.scalar() is not None:
        return True
    job = session.scalars(select(Job).where(Job.key == key).with_for_update()).one()
    if job.state not in again:
        return False
    job.state, job.attempts, job.lost, job.not_before, job.finished_at = "queued", 0, 0, not_before, None
    return True


def claim(store: Store, lease_time: timedelta) -> Job | None:
    """Take the next due job: scoring first, then the oldest. A job whose lease has run out is due again.

    The job is detached: it is what was claimed, not what the database holds later.
    """
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
            _move_submission(session, job.submission_id, "queued", "scoring")
            lost = "; the worker before was lost" if taken_over else ""
            log(session, job.submission_id, now, f"scoring, attempt {job.attempts} of {MAX_ATTEMPTS}{lost}")
        return job


def extend(store: Store, claimed: Job, lease_time: timedelta) -> bool:
    """The heartbeat: extend the lease; False if the job was lost to another worker."""
    with store.database.write() as session:
        ours = update(Job).where(*_is_held(claimed))
        extended = session.execute(ours.values(leased_until=store.clock() + lease_time).returning(Job.id))
        return extended.scalar() is not None


def release(store: Store, claimed: Job) -> None:
    """Put a job back as if it had not been taken: the worker stops, and nothing is wrong with the job."""
    with store.database.write() as session:
        job = held_job(session, claimed)
        if job is None:
            return
        now = store.clock()
        job.state, job.attempts, job.not_before = "queued", max(0, job.attempts - 1), now
        if job.submission_id is not None:
            _move_submission(session, job.submission_id, "scoring", "queued")
            log(session, job.submission_id, now, "put back, as the worker was stopped")


def _move_submission(session: Session, submission_id: int, before: str, after: str) -> None:
    in_state = (Submission.id == submission_id, Submission.state == before)
    session.execute(update(Submission).where(*in_state).values(state=after))


def held_job(session: Session, claimed: Job) -> Job | None:
    """The job, locked, if its lease is still ours."""
    return session.scalar(select(Job).where(*_is_held(claimed)).with_for_update())


def _is_held(claimed: Job) -> tuple[ColumnElement[bool], ...]:
    return Job.id == claimed.id, Job.lease == claimed.lease, Job.state == "running"
