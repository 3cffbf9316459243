"""Challenges: made from a file, opened, closed, given other gold, scored anew, removed and brought back."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from emoscope.server.challenge.scoring.measure import measured
from emoscope.server.challenge.scoring.queue import log, queue_comparison, queue_scoring
from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.services.actor import Actor, require_organiser
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.definition import Definition, read_definition
from emoscope.server.challenge.services.lookup import board_visible, find_challenge, find_phase, phase_state, phases_of
from emoscope.server.challenge.services.phase_files import PhaseFiles, check_files, human_figures
from emoscope.server.challenge.views import ChallengeView, FileView, PhaseView
from emoscope.server.errors import Conflict, Invalid, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Phase, Result, Submission, Team
from emoscope.tasks import Task


def create_challenge(store: Store, actor: Actor, path: str | Path, files: str | Path | None = None) -> ChallengeView:
    """Make a challenge of a TOML file; the files it names lie beside it or in `files`."""
    require_organiser(actor, None)
    definition = read_definition(path)
    found = check_files(definition, Path(path), Path(files) if files is not None else Path(path).parent)
    task = measured(definition.task, definition.metric)
    kept = [_keep(store, task, phase_files) for phase_files in found]
    try:
        with store.database.write() as session:
            if session.scalar(select(Challenge.id).where(Challenge.slug == definition.slug)):
                raise Conflict(f"there is a challenge {definition.slug!r} already", field="slug")
            made = Challenge(
                slug=definition.slug,
                title=definition.title,
                description=definition.description.strip(),
                task=definition.task,
                metric=definition.metric,
                registration=definition.registration,
                max_teams=definition.max_teams,
                created_at=store.clock(),
            )
            session.add(made)
            session.flush()
            session.add_all(_phases(definition, made, kept))
            session.flush()
            record(session, store, actor, "challenge.create", made.slug, challenge_id=made.id, task=made.task)
            return challenge_view(session, store, actor, made)
    except IntegrityError:
        raise Conflict(f"there is a challenge {definition.slug!r} already", field="slug") from None


def _keep(store: Store, task: Task, files: PhaseFiles) -> dict[str, object]:
    humans = human_figures(task, files.gold, files.humans)
    if files.humans is not None and humans is not None and files.humans != "published":
        # Judgements are nearly gold, and lie with it.
        humans["sha256"] = store.files.keep_file(Path(files.humans), "gold").sha256
    unlabelled = store.files.keep_file(files.unlabelled, "unlabelled")
    return {
        "unlabelled_sha256": unlabelled.sha256,
        "unlabelled_name": files.unlabelled.name[:120],
        "gold_sha256": store.files.keep_file(files.gold, "gold").sha256,
        "items": files.items,
        "humans": humans,
    }


def _phases(definition: Definition, challenge: Challenge, kept: list[dict[str, object]]) -> list[Phase]:
    return [
        Phase(
            challenge_id=challenge.id,
            name=phase.name,
            title=phase.title,
            position=position,
            opens_at=phase.moment(phase.opens),
            closes_at=phase.moment(phase.closes),
            time_zone=phase.time_zone,
            per_day=phase.per_day,
            total=phase.total,
            rejected_per_day=phase.rejected_per_day,
            board=phase.board,
            counts=phase.counts,
            max_bytes=phase.max_bytes,
            published=phase.published,
            **files,
        )
        for position, (phase, files) in enumerate(zip(definition.phases, kept, strict=True))
    ]


def list_challenges(store: Store, actor: Actor) -> list[ChallengeView]:
    """All challenges, newest first; deleted ones only for their organisers."""
    with store.database.read() as session:
        return [
            challenge_view(session, store, actor, found)
            for found in session.scalars(select(Challenge).order_by(Challenge.id.desc()))
            if found.deleted_at is None or actor.organises(found.id)
        ]


def get_challenge(store: Store, actor: Actor, slug: str) -> ChallengeView:
    """One challenge."""
    with store.database.read() as session:
        return challenge_view(session, store, actor, find_challenge(session, actor, slug, deleted=True))


def organises(store: Store, actor: Actor, slug: str) -> bool:
    """Whether the actor runs this challenge."""
    with store.database.read() as session:
        return actor.organises(find_challenge(session, actor, slug, deleted=True).id)


def open_phase(store: Store, actor: Actor, slug: str, phase: str) -> ChallengeView:
    """Open a phase now; one that was over goes on until it is closed again."""
    return _move(store, actor, slug, phase, opening=True)


def close_phase(store: Store, actor: Actor, slug: str, phase: str) -> ChallengeView:
    """Close a phase now. What was accepted is still scored; a hidden board shows from here on."""
    return _move(store, actor, slug, phase, opening=False)


def _move(store: Store, actor: Actor, slug: str, name: str, *, opening: bool) -> ChallengeView:
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug)
        require_organiser(actor, challenge.id)
        phase = find_phase(session, challenge, name)
        now = store.clock()
        state = phase_state(phase, now)
        if opening:
            if state == "open":
                raise Conflict(f"phase {name} is open already")
            if state == "planned":
                phase.opens_at = now
            if phase.closes_at is not None and phase.closes_at <= now:
                phase.closes_at = None
        else:
            if state != "open":
                raise Conflict(f"phase {name} is not open")
            phase.closes_at = now
        action = "phase.open" if opening else "phase.close"
        record(session, store, actor, action, f"{slug}/{name}", challenge_id=challenge.id)
        session.flush()
        return challenge_view(session, store, actor, challenge)


def reschedule(
    store: Store, actor: Actor, slug: str, phase: str, *, opens: datetime | None = None, closes: datetime | None = None
) -> ChallengeView:
    """Give a phase another opening or closing time; a time without an offset is in the phase's time zone."""
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug)
        require_organiser(actor, challenge.id)
        found = find_phase(session, challenge, phase)
        zone = ZoneInfo(found.time_zone)
        begin, end = (
            before if time is None else time if time.tzinfo else time.replace(tzinfo=zone)
            for before, time in ((found.opens_at, opens), (found.closes_at, closes))
        )
        if end is not None and (begin is None or end <= begin):
            raise Invalid("the phase must close after it opens", field="closes")
        found.opens_at, found.closes_at = begin, end
        moments = {name: time.isoformat() for name, time in (("opens", begin), ("closes", end)) if time is not None}
        record(session, store, actor, "phase.schedule", f"{slug}/{phase}", challenge_id=challenge.id, **moments)
        session.flush()
        return challenge_view(session, store, actor, challenge)


def replace_gold(store: Store, actor: Actor, slug: str, phase: str, path: str | Path) -> None:
    """Give a phase other gold labels. All its results become stale; `rescore` makes new ones."""
    with store.database.read() as session:
        challenge = find_challenge(session, actor, slug)
        require_organiser(actor, challenge.id)
        old = find_phase(session, challenge, phase)
    task = measured(challenge.task, challenge.metric)
    unlabelled = store.files.path("unlabelled", old.unlabelled_sha256)
    files = PhaseFiles.checked(task, unlabelled, Path(path))
    humans = old.humans
    if humans is not None and "sha256" in humans:
        judgements = str(store.files.path("gold", humans["sha256"]))
        humans = {**(human_figures(task, files.gold, judgements) or {}), "sha256": humans["sha256"]}
    gold = store.files.keep_file(files.gold, "gold")
    with store.database.write() as session:
        changed = session.get_one(Phase, old.id)
        before, changed.gold_sha256, changed.humans = changed.gold_sha256, gold.sha256, humans
        queue_comparison(session, changed.id, store.clock())
        record(
            session,
            store,
            actor,
            "phase.gold",
            f"{slug}/{phase}",
            challenge_id=challenge.id,
            before=before,
            after=gold.sha256,
        )


def rescore(store: Store, actor: Actor, slug: str, phase: str | None = None) -> int:
    """Queue every submission that has no result of the present code and gold; returns how many."""
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug)
        require_organiser(actor, challenge.id)
        phases = phases_of(session, challenge) if phase is None else [find_phase(session, challenge, phase)]
        scorer, now = scorer_sha256(challenge.task, challenge.metric), store.clock()
        queued = sum(_rescore_phase(session, one, scorer, now) for one in phases)
        record(session, store, actor, "challenge.rescore", slug, challenge_id=challenge.id, phase=phase, queued=queued)
        return queued


def _rescore_phase(session: Session, phase: Phase, scorer: str, now: datetime) -> int:
    scored = select(Result.submission_id).where(Result.scorer_sha256 == scorer, Result.gold_sha256 == phase.gold_sha256)
    wanting = select(Submission).where(
        Submission.phase_id == phase.id, Submission.state != "rejected", Submission.id.not_in(scored)
    )
    queued = 0
    for submission in session.scalars(wanting.order_by(Submission.id)):
        if queue_scoring(session, submission, phase, scorer, now):
            queued += 1
            log(session, submission.id, now, "queued to be scored anew")
            if submission.state == "failed":
                submission.state = "queued"
    queue_comparison(session, phase.id, now)
    return queued


def delete_challenge(store: Store, actor: Actor, slug: str) -> None:
    """Hide a challenge from all but its organisers; `restore_challenge` brings it back."""
    _set_deleted(store, actor, slug, deleted=True)


def restore_challenge(store: Store, actor: Actor, slug: str) -> None:
    """Bring a deleted challenge back."""
    _set_deleted(store, actor, slug, deleted=False)


def _set_deleted(store: Store, actor: Actor, slug: str, *, deleted: bool) -> None:
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug, deleted=True)
        require_organiser(actor, challenge.id)
        challenge.deleted_at = store.clock() if deleted else None
        action = "challenge.delete" if deleted else "challenge.restore"
        record(session, store, actor, action, slug, challenge_id=challenge.id)


def unlabelled_file(store: Store, actor: Actor, slug: str, phase: str) -> FileView:
    """The file participants answer, from the moment the phase opens."""
    with store.database.read() as session:
        challenge = find_challenge(session, actor, slug)
        found = find_phase(session, challenge, phase)
        if phase_state(found, store.clock()) == "planned" and not actor.organises(challenge.id):
            raise NotFound(f"the file is given out when phase {phase} opens")
        path = store.files.path("unlabelled", found.unlabelled_sha256)
        return FileView(str(path), found.unlabelled_name, path.stat().st_size, found.unlabelled_sha256)


def challenge_view(session: Session, store: Store, actor: Actor, challenge: Challenge) -> ChallengeView:
    """A challenge as the actor may see it."""
    task = measured(challenge.task, challenge.metric)
    now = store.clock()
    standing = (Team.challenge_id == challenge.id, Team.deleted_at.is_(None), Team.merged_into.is_(None))
    return ChallengeView(
        slug=challenge.slug,
        title=challenge.title,
        description=challenge.description,
        task=task.name,
        task_title=task.metadata.title,
        labels=task.labels,
        metric=task.metadata.metric.name,
        metric_description=task.metadata.metric.description,
        registration="open" if challenge.registration == "open" else "closed",
        phases=tuple(_phase_view(actor, phase, now) for phase in phases_of(session, challenge)),
        teams=session.scalar(select(func.count()).where(*standing)) or 0,
        deleted=challenge.deleted_at is not None,
    )


def _phase_view(actor: Actor, phase: Phase, now: datetime) -> PhaseView:
    return PhaseView(
        name=phase.name,
        title=phase.title,
        state=phase_state(phase, now),
        opens=phase.opens_at,
        closes=phase.closes_at,
        time_zone=phase.time_zone,
        per_day=phase.per_day,
        total=phase.total,
        rejected_per_day=phase.rejected_per_day,
        board="open" if phase.board == "open" else "hidden",
        board_visible=board_visible(actor, phase, now),
        counts="best" if phase.counts == "best" else "last",
        max_bytes=phase.max_bytes,
        unlabelled_name=phase.unlabelled_name,
        items=phase.items,
    )
