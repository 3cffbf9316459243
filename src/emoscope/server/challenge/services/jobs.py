"""The scoring jobs of a challenge, for its organisers."""

from sqlalchemy import func, select

from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.lookup import find_organised
from emoscope.server.challenge.views import JobsView, JobView
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
