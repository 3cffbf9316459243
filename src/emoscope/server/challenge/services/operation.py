"""What organisers see of the server's work: scoring jobs, and the storage in use."""

import shutil

from sqlalchemy import func, select, text

from emoscope.server.challenge.services.actor import Actor, require_organiser
from emoscope.server.challenge.services.lookup import find_challenge, find_organised
from emoscope.server.challenge.views import JobsView, JobView, StorageView
from emoscope.server.store import Store
from emoscope.server.store.models import Job, Phase, Submission

SHOWN = 100


def jobs(store: Store, actor: Actor, slug: str) -> JobsView:
    """The number of jobs in each state, and the newest unfinished ones; `rescore` retries failed ones."""
    with store.database.read() as session:
        challenge = find_organised(session, actor, slug)
        own = select(Job, Phase.name, Submission.public_id).join(Phase, Job.phase_id == Phase.id)
        own = own.outerjoin(Submission, Job.submission_id == Submission.id).where(Phase.challenge_id == challenge.id)
        unfinished = own.where(Job.state.not_in(["done", "superseded"])).order_by(Job.id.desc()).limit(SHOWN)
        counts = select(Job.state, func.count()).join(Phase, Job.phase_id == Phase.id)
        counts = counts.where(Phase.challenge_id == challenge.id).group_by(Job.state)
        return JobsView(
            counts={row[0]: row[1] for row in session.execute(counts)},
            unfinished=tuple(
                JobView.of(job, phase=phase, submission=submission)
                for job, phase, submission in session.execute(unfinished)
            ),
        )


def storage(store: Store, actor: Actor, slug: str | None = None) -> StorageView:
    """The size of a challenge's files, or of all; also of database and free disk, for organisers of everything."""
    with store.database.read() as session:
        challenge_id = None if slug is None else find_challenge(session, actor, slug).id
        require_organiser(actor, challenge_id)
        phases = select(Phase) if challenge_id is None else select(Phase).where(Phase.challenge_id == challenge_id)
        kept = select(Submission.sha256, func.max(Submission.size)).where(Submission.state != "rejected")
        if challenge_id is not None:
            kept = kept.join(Submission.phase).where(Phase.challenge_id == challenge_id)
        sizes = [size for _, size in session.execute(kept.group_by(Submission.sha256))]
        data = {
            (area, sha256)
            for phase in session.scalars(phases)
            for area, sha256 in (("unlabelled", phase.unlabelled_sha256), ("gold", phase.gold_sha256))
        }
        everything = actor.organises(None)
        database = None
        if everything and not store.database.is_sqlite:
            database = session.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
    if everything and store.database.is_sqlite:
        database = sum(file.stat().st_size for file in store.data_dir.glob("emoscope.sqlite3*"))
    paths = [store.files.path(area, sha256) for area, sha256 in data]  # type: ignore[arg-type]
    return StorageView(
        submissions=len(sizes),
        submission_bytes=sum(sizes),
        data_bytes=sum(path.stat().st_size for path in paths if path.exists()),
        database_bytes=database,
        free_bytes=shutil.disk_usage(store.data_dir).free if everything else None,
    )
