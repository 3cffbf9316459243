"""The job queue in the database: a worker leases a job, and loses it when the lease expires.

Each outcome of a job is one transaction, and only the worker that still holds the lease can record it.
"""

import logging
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Concatenate, ParamSpec

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.scoring.standing import fingerprint, standings
from emoscope.server.challenge.services.audit import record
from emoscope.server.store import Store
from emoscope.server.store.models import BoardComparison, Job, LogEntry, Phase, Result, Submission

MAX_ATTEMPTS = 3
# A lost worker says little about the job, so this may happen more often than failed attempts.
MAX_LOST = 20
# A comparison waits a little, so that a burst of scores causes only one.
_SETTLE = timedelta(seconds=2)
_log = logging.getLogger("emoscope.server")
P = ParamSpec("P")


def log(session: Session, submission_id: int, at: datetime, text: str) -> None:
    """Add a line to a submission's log."""
    session.add(LogEntry(submission_id=submission_id, at=at, text=text[:500]))


def queue_scoring(session: Session, submission: Submission, phase: Phase, scorer: str, now: datetime) -> bool:
    """Queue a submission for scoring with this code and gold; False if it is already queued or done."""
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
    """Queue a comparison of a phase's board, one for all changes until it runs.

    The row is locked even if it does not change: a worker that finishes a comparison holds the lock while it checks
    whether the standing is still current, so it sees either our change or our request.
    """
    key, due = f"compare:{phase_id}", now + _SETTLE
    again = {"done", "failed"}
    _queue(session, key=key, again=again, kind="compare", phase_id=phase_id, not_before=due, created_at=now)


def queue_comparisons(session: Session, challenge_id: int, now: datetime) -> None:
    """Queue comparisons of all boards of a challenge that have submissions."""
    used = select(Submission.phase_id).join(Phase, Submission.phase_id == Phase.id)
    for phase_id in sorted(set(session.scalars(used.where(Phase.challenge_id == challenge_id)))):
        queue_comparison(session, phase_id, now)


def _queue(session: Session, *, key: str, again: set[str], not_before: datetime, **values: Any) -> bool:
    """Add a job, or queue the one with this key again if it is in one of these states; otherwise return False."""
    insert: Any = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    statement = insert(Job).values(key=key, state="queued", attempts=0, lost=0, not_before=not_before, **values)
    inserted = session.execute(statement.on_conflict_do_nothing(index_elements=["key"]).returning(Job.id))
    if inserted.scalar() is not None:
        return True
    job = session.scalars(select(Job).where(Job.key == key).with_for_update()).one()
    if job.state not in again:
        return False
    job.state, job.attempts, job.lost, job.not_before, job.finished_at = "queued", 0, 0, not_before, None
    job.reason = None
    return True


def claim(store: Store, lease_time: timedelta) -> Job | None:
    """Lease the next due job: scoring first, then the oldest. A job whose lease has expired is due again.

    The returned job is detached: it shows what was leased, not what the database contains later.
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
            lost = "; the previous worker was lost" if taken_over else ""
            log(session, job.submission_id, now, f"scoring, attempt {job.attempts} of {MAX_ATTEMPTS}{lost}")
        return job


def extend(store: Store, claimed: Job, lease_time: timedelta) -> bool:
    """The heartbeat: extend the lease; False if the job was lost to another worker."""
    with store.database.write() as session:
        ours = update(Job).where(*_is_held(claimed))
        extended = session.execute(ours.values(leased_until=store.clock() + lease_time).returning(Job.id))
        return extended.scalar() is not None


def _move_submission(session: Session, submission_id: int, before: str, after: str) -> None:
    in_state = (Submission.id == submission_id, Submission.state == before)
    session.execute(update(Submission).where(*in_state).values(state=after))


def _is_held(claimed: Job) -> tuple[ColumnElement[bool], ...]:
    return Job.id == claimed.id, Job.lease == claimed.lease, Job.state == "running"


def _outcome(decide: Callable[Concatenate[Session, Store, Job, P], None]) -> Callable[Concatenate[Store, Job, P], bool]:
    """Record an outcome in one transaction; False if the job was lost to another worker in the meantime."""

    def run(store: Store, claimed: Job, /, *arguments: P.args, **options: P.kwargs) -> bool:
        with store.database.write() as session:
            job = session.scalar(select(Job).where(*_is_held(claimed)).with_for_update())
            if job is not None:
                decide(session, store, job, *arguments, **options)
            return job is not None

    return run


@_outcome
def release(session: Session, store: Store, job: Job) -> None:
    """Put a job back as if it had not been leased, because the worker stops."""
    now = store.clock()
    job.state, job.attempts, job.not_before = "queued", max(0, job.attempts - 1), now
    if job.submission_id is not None:
        _move_submission(session, job.submission_id, "scoring", "queued")
        log(session, job.submission_id, now, "put back in the queue because the worker was stopped")


@_outcome
def keep_score(session: Session, store: Store, job: Job, answer: dict[str, Any]) -> None:
    """Save a score."""
    now = store.clock()
    submission = session.get_one(Submission, job.submission_id)
    result = Result(
        submission_id=submission.id,
        scorer_sha256=job.scorer_sha256,
        gold_sha256=job.gold_sha256,
        score=answer["score"],
        public_score=answer.get("public_score"),
        figures={
            **{key: answer[key] for key in ("low", "high", "per_class")},
            "further": answer.get("further", {}),
        },
        created_at=now,
    )
    session.add(result)
    submission.state = "scored"
    job.state, job.finished_at = "done", now
    log(session, submission.id, now, "scored")
    queue_comparison(session, job.phase_id, now)


@_outcome
def fail(session: Session, store: Store, job: Job, reason: str) -> None:
    """Retry later, or give up after the last attempt and give the team its submission back."""
    now = store.clock()
    last = job.attempts >= MAX_ATTEMPTS or job.lost > MAX_LOST
    job.state = "failed" if last else "queued"
    job.finished_at = now if last else None
    job.reason = reason[:300]
    _log.warning(
        "job %d (%s of phase %d%s): attempt %d of %d failed: %s%s",
        job.id,
        job.kind,
        job.phase_id,
        "" if job.submission_id is None else f", submission {job.submission_id}",
        job.attempts,
        MAX_ATTEMPTS,
        reason,
        "; given up" if last else "",
    )
    job.not_before = now + timedelta(seconds=2**job.attempts)
    if job.submission_id is None:
        if last:
            phase = session.get_one(Phase, job.phase_id)
            thing, challenge_id = f"{phase.challenge.slug}/{phase.name}", phase.challenge_id
            record(session, store, "worker", "comparison.fail", thing, challenge_id=challenge_id, reason=reason[:300])
        return
    submission = session.get_one(Submission, job.submission_id)
    if submission.state == "scored":  # it has a score; rescoring is what failed
        log(session, submission.id, now, f"could not be rescored: {reason}")
    elif last:
        submission.state, submission.charged = "failed", False
        log(session, submission.id, now, f"failed: {reason}; the submission does not count against the quota")
    else:
        submission.state = "queued"
        log(session, submission.id, now, f"attempt failed: {reason}")
    if last:
        thing, challenge_id = f"submission {submission.public_id}", submission.phase.challenge_id
        record(session, store, "worker", "submission.fail", thing, challenge_id=challenge_id, reason=reason[:300])


@_outcome
def supersede(session: Session, store: Store, job: Job, scorer: str) -> None:
    """Replace a job for outdated code or gold with one for the current; this is not a failed attempt."""
    now = store.clock()
    submission = session.get_one(Submission, job.submission_id)
    job.state, job.finished_at = "superseded", now
    if submission.state == "scoring":
        submission.state = "queued"
    queue_scoring(session, submission, submission.phase, scorer, now)
    log(session, submission.id, now, "the scorer or the gold labels have changed; queued again")


@_outcome
def keep_comparison(session: Session, store: Store, job: Job, compared: str, answer: dict[str, Any]) -> None:
    """Save a comparison, and queue another if the standing has changed in the meantime."""
    now = store.clock()
    phase = session.get_one(Phase, job.phase_id)
    rows = {row["name"]: {key: row[key] for key in ("cluster", "first_different")} for row in answer["rows"]}
    session.merge(BoardComparison(phase_id=phase.id, fingerprint=compared, rows=rows, created_at=now))
    scorer = scorer_sha256(phase.challenge.task, phase.challenge.metric)
    ranked = [standing.submission for standing in standings(session, phase, scorer) if standing.ranked]
    if fingerprint(ranked, phase, scorer) == compared:
        job.state, job.finished_at, job.reason = "done", now, None
    else:
        job.state, job.attempts, job.lost, job.not_before = "queued", 0, 0, now
