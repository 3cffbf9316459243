"""Challenges: create, change, schedule, open, close, replace gold, rescore, delete and restore."""

import io
import json
import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.scoring import public_part
from emoscope.server.challenge.scoring.queue import log, queue_comparison, queue_scoring
from emoscope.server.challenge.scoring.scorer import measured, scorer_sha256
from emoscope.server.challenge.services import handouts
from emoscope.server.challenge.services.actor import Actor, require_organiser
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.definition import (
    TEXTS,
    Changes,
    Definition,
    PhaseDefinition,
    check_year,
    read_definition,
)
from emoscope.server.challenge.services.lookup import (
    board_visible,
    find_challenge,
    find_organised,
    find_phase,
    organising,
    phase_state,
    reading,
)
from emoscope.server.challenge.services.phase_files import PhaseFiles, check_files
from emoscope.server.challenge.views import ChallengeView, GoldView, PhaseView
from emoscope.server.errors import Conflict, Invalid, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Phase, Result, Submission, Team
from emoscope.tasks import Task


def create_challenge(store: Store, actor: Actor, path: str | Path, files: str | Path | None = None) -> ChallengeView:
    """Create a challenge from a TOML file; the files it names are in the folder `files`, by default its own."""
    folder = Path(path).parent if files is None else Path(files)
    require_organiser(actor, None)
    return create_defined(store, actor, read_definition(path), Path(path), folder)


def create_defined(store: Store, actor: Actor, definition: Definition, source: Path, folder: Path) -> ChallengeView:
    """Create a challenge from a definition and its files in a folder; errors name the definition by its `source`."""
    require_organiser(actor, None)
    phase_files = check_files(definition, source, folder)
    given = [(file, store.files.keep_file(folder / file.file, "unlabelled")) for file in definition.files]
    phases = [
        Phase(
            position=position,
            opens_at=phase.moment(phase.opens),
            closes_at=phase.moment(phase.closes),
            labels="secret" if isinstance(phase.labels, datetime) else phase.labels,
            labels_at=phase.labels_at,
            **phase.model_dump(exclude={"opens", "closes", "labels", "unlabelled", "gold", "humans", "public_share"}),
            **_store_files(store, files),
            public=_public_part(store, definition, phase, files) if phase.board == "open" else None,
        )
        for position, (phase, files) in enumerate(zip(definition.phases, phase_files, strict=True))
    ]
    try:
        with store.database.write() as session:
            if session.scalar(select(Challenge.id).where(Challenge.slug == definition.slug)):
                raise Conflict(f"a challenge named {definition.slug!r} already exists", field="slug")
            challenge = Challenge(**definition.row, phases=phases, created_at=store.clock())
            session.add(challenge)
            session.flush()
            for file, stored in given:
                handouts.keep(session, store, challenge, stored, Path(file.file).name, file.title, file.phase)
            slug, number = challenge.slug, challenge.id
            record(session, store, actor, "challenge.create", slug, challenge_id=number, task=challenge.task)
            return challenge_view(session, store, actor, challenge)
    except IntegrityError:
        raise Conflict(f"a challenge named {definition.slug!r} already exists", field="slug") from None


def _store_files(store: Store, files: PhaseFiles) -> dict[str, object]:
    humans = files.humans
    if humans is not None and files.judgements is not None:
        # Judgements reveal the gold, so they are stored with it.
        humans = {**humans, "sha256": store.files.keep_file(files.judgements, "gold").sha256}
    return {
        "unlabelled_sha256": store.files.keep_file(files.unlabelled, "unlabelled").sha256,
        "unlabelled_name": files.unlabelled.name[:120],
        "gold_sha256": store.files.keep_file(files.gold, "gold").sha256,
        "items": files.items,
        "humans": humans,
    }


def _public_part(store: Store, definition: Definition, phase: PhaseDefinition, files: PhaseFiles) -> dict[str, object]:
    """Choose the items that an open board scores, once; the list is stored with the gold."""
    task, seed = measured(definition.task, definition.metric), secrets.token_hex(16)
    share = public_part.DEFAULT_SHARE if phase.public_share is None else phase.public_share
    try:
        chosen = public_part.choose(task, files.labels, share, seed)
    except EmoscopeError as error:
        raise Invalid(f"phases.{phase.name}.public_share: {error}", field="public_share") from None
    labels = files.labels if chosen is None else [files.labels[item] for item in chosen]
    sha256 = None
    if chosen is not None:
        content = io.BytesIO(public_part.encoded(chosen))
        with store.files.incoming(content, limit=1 << 30) as part:
            sha256 = store.files.keep(part, "gold").sha256
    resolution = public_part.resolution(task, [label for label in labels if task.scored(label)])
    return {"sha256": sha256, "items": len(labels), "step": resolution.step, "margin": resolution.margin}


def list_challenges(store: Store, actor: Actor) -> list[ChallengeView]:
    """List all challenges, newest first; deleted ones only for their organisers."""
    with store.database.read() as session:
        return [
            challenge_view(session, store, actor, challenge)
            for challenge in session.scalars(select(Challenge).order_by(Challenge.id.desc()))
            if challenge.deleted_at is None or actor.organises(challenge.id)
        ]


def get_challenge(store: Store, actor: Actor, slug: str) -> ChallengeView:
    """Get one challenge."""
    with store.database.read() as session:
        return challenge_view(session, store, actor, find_challenge(session, actor, slug))


def organises(store: Store, actor: Actor, slug: str) -> bool:
    """Whether the actor organises this challenge."""
    with store.database.read() as session:
        return actor.organises(find_challenge(session, actor, slug).id)


def check_organiser(store: Store, actor: Actor, slug: str) -> None:
    """Refuse everyone but the challenge's organisers."""
    with store.database.read() as session:
        require_organiser(actor, find_challenge(session, actor, slug).id)


def _move(store: Store, actor: Actor, slug: str, name: str, *, opening: bool) -> ChallengeView:
    with organising(store, actor, slug) as (session, challenge):
        phase = find_phase(challenge, name)
        now = store.clock()
        state = phase_state(phase, now)
        if opening:
            if state == "open":
                raise Conflict(f"phase {name} is already open")
            if state == "planned":
                phase.opens_at = now
                _check_release(now, phase.labels_at)
            if phase.closes_at is not None and phase.closes_at <= now:
                handouts.check_labels_unseen(session, phase)
                phase.closes_at = None
        else:
            if state != "open":
                raise Conflict(f"phase {name} is not open")
            phase.closes_at = now
        action = "phase.open" if opening else "phase.close"
        record(session, store, actor, action, f"{slug}/{name}", challenge_id=challenge.id)
        session.flush()
        return challenge_view(session, store, actor, challenge)


# A reopened phase stays open until it is closed again. Submissions accepted before the close are still scored, and a
# hidden board becomes visible.
open_phase = partial(_move, opening=True)
close_phase = partial(_move, opening=False)


def _check_release(opens: datetime | None, labels: datetime | None) -> None:
    if opens is not None and labels is not None and labels <= opens:
        problem = f"the labels must be released after the phase opens, not at {labels.isoformat(timespec='minutes')}"
        raise Invalid(problem, field="labels")


def reschedule(
    store: Store,
    actor: Actor,
    slug: str,
    phase: str,
    *,
    opens: datetime | None = None,
    closes: datetime | None = None,
    labels: datetime | None = None,
    clear: Collection[str] = (),
) -> ChallengeView:
    """Change when a phase opens, closes or releases its labels; times without an offset are in the phase's time zone.

    `clear` removes times, "opens" or "closes": the phase is then opened or closed manually; "labels": they are released
    as the definition says. Labels cannot be released in the past, as submissions since then would lose their ranks.
    """
    with organising(store, actor, slug) as (session, challenge):
        changed = find_phase(challenge, phase)
        zone = ZoneInfo(changed.time_zone)
        now, released_before = store.clock(), changed.labels_at
        begin, end, release = (
            None if name in clear else before if time is None else time if time.tzinfo else time.replace(tzinfo=zone)
            for name, before, time in (
                ("opens", changed.opens_at, opens),
                ("closes", changed.closes_at, closes),
                ("labels", released_before, labels),
            )
        )
        try:
            for time in (opens, closes, labels):
                check_year(time)
        except ValueError as error:
            raise Invalid(str(error), field="opens") from None
        if end is not None and (begin is None or end <= begin):
            raise Invalid("the phase must close after it opens", field="closes")
        _check_release(begin, release)
        if release != released_before:
            handouts.check_labels_unseen(session, changed, "release its labels at another time")
            if release is not None and release < now:
                raise Invalid("the labels cannot be released in the past", field="labels")
            queue_comparison(session, changed.id, now)
        over = phase_state(changed, now) == "closed"
        changed.opens_at, changed.closes_at, changed.labels_at = begin, end, release
        if over and phase_state(changed, now) != "closed":
            handouts.check_labels_unseen(session, changed)
        times = (("opens", begin), ("closes", end), ("labels", release))
        moments = {name: time and time.isoformat() for name, time in times}
        record(session, store, actor, "phase.schedule", f"{slug}/{phase}", challenge_id=challenge.id, **moments)
        session.flush()
        return challenge_view(session, store, actor, challenge)


def rewrite(store: Store, actor: Actor, slug: str, path: str | Path) -> ChallengeView:
    """Update title, texts, survey and report requirement from the challenge's edited TOML file."""
    definition = read_definition(path)
    with organising(store, actor, slug) as (session, challenge):
        if definition.slug != slug:
            raise Conflict(f"{Path(path).name} is for {definition.slug!r}, not {slug!r}", field="slug")
        challenge.title, challenge.description = definition.title, definition.description
        challenge.texts, challenge.report = definition.texts, definition.report
        challenge.survey = [question.model_dump(mode="json") for question in definition.survey]
        record(session, store, actor, "challenge.texts", slug, challenge_id=challenge.id)
        session.flush()
        return challenge_view(session, store, actor, challenge)


def change_challenge(store: Store, actor: Actor, slug: str, changes: Mapping[str, Any]) -> ChallengeView:
    """Change a challenge's title, texts, registration or max_teams; values that are not given stay."""
    checked = Changes.of(dict(changes))
    with organising(store, actor, slug) as (session, challenge):
        texts = dict(challenge.texts or {})
        new = {
            name: value
            for name, value in checked.items()
            if (texts.get(name, "") if name in TEXTS else getattr(challenge, name)) != value
        }
        for name, value in new.items():
            if name not in TEXTS:
                setattr(challenge, name, value)
        challenge.texts = {name: text for name in TEXTS if (text := new.get(name, texts.get(name, "")))}
        if new:
            detail = {name: str(value)[:200] for name, value in new.items()}
            record(session, store, actor, "challenge.change", slug, challenge_id=challenge.id, **detail)
        session.flush()
        return challenge_view(session, store, actor, challenge)


def replace_gold(
    store: Store, actor: Actor, slug: str, phase: str, path: str | Path, *, rescoring: bool = True
) -> GoldView:
    """Replace a phase's gold labels and queue all its submissions for rescoring, in one transaction.

    The public items stay the same, as some of their labels may be known by now, and scores are never rounded more
    finely than before. Without `rescoring` all results are stale until `rescore`.
    """
    with store.database.read() as session:
        challenge = find_organised(session, actor, slug)
        old = find_phase(challenge, phase)
    task = measured(challenge.task, challenge.metric)
    unlabelled = store.files.path("unlabelled", old.unlabelled_sha256)
    humans = old.humans
    judgements = store.files.path("gold", humans["sha256"]) if humans is not None and "sha256" in humans else None
    files = PhaseFiles.checked(task, unlabelled, Path(path), judgements, given_as=old.unlabelled_name)
    if humans is not None and files.humans is not None:
        humans = {**files.humans, "sha256": humans["sha256"]}
    public = _kept_part(store, task, old, files.labels)
    gold = store.files.keep_file(files.gold, "gold")
    with store.database.write() as session:
        changed = session.get_one(Phase, old.id)
        before, changed.gold_sha256, changed.humans = changed.gold_sha256, gold.sha256, humans
        changed.public = public
        scorer, now = scorer_sha256(challenge.task, challenge.metric), store.clock()
        queued = _rescore_phase(session, changed, scorer, now) if rescoring else 0
        queue_comparison(session, changed.id, now)
        change = {"before": before, "after": gold.sha256, "queued": queued}
        record(session, store, actor, "phase.gold", f"{slug}/{phase}", challenge_id=challenge.id, **change)
        return GoldView(phase=phase, before=before, after=gold.sha256, queued=queued)


def _kept_part(store: Store, task: Task, phase: Phase, labels: Sequence[str]) -> dict[str, object] | None:
    """The public part with new labels: the same items, rounded no finer than before, as two roundings reveal more."""
    if phase.public is None:
        return None
    public = labels
    if (sha256 := phase.public["sha256"]) is not None:
        chosen = set(json.loads(store.files.path("gold", sha256).read_bytes()))
        public = [label for item, label in enumerate(labels) if item in chosen]
        private = [label for item, label in enumerate(labels) if item not in chosen]
        if not any(map(task.scored, public)) or not any(map(task.scored, private)):
            raise Invalid("the new gold scores no item of the public part, or none of the private part", field="file")
    new = public_part.resolution(task, [label for label in public if task.scored(label)])
    step, margin = max(phase.public["step"], new.step), max(phase.public["margin"], new.margin)
    return {**phase.public, "step": step, "margin": margin}


def rescore(store: Store, actor: Actor, slug: str, phase: str | None = None) -> int:
    """Queue every submission without a result for the current code and gold; returns how many."""
    with organising(store, actor, slug) as (session, challenge):
        phases = challenge.phases if phase is None else [find_phase(challenge, phase)]
        scorer, now = scorer_sha256(challenge.task, challenge.metric), store.clock()
        queued = sum(_rescore_phase(session, one, scorer, now) for one in phases)
        record(session, store, actor, "challenge.rescore", slug, challenge_id=challenge.id, phase=phase, queued=queued)
        return queued


def count_stale(store: Store, actor: Actor, slug: str) -> int:
    """Count the scores that other code or other gold produced."""
    with reading(store, actor, slug) as (session, challenge):
        require_organiser(actor, challenge.id)
        scorer = scorer_sha256(challenge.task, challenge.metric)
        stale = or_(*(_unscored(phase, scorer) for phase in challenge.phases))
        return session.scalar(select(func.count(Submission.id)).where(stale, Submission.state == "scored")) or 0


def _unscored(phase: Phase, scorer: str) -> ColumnElement[bool]:
    """A condition: submissions of the phase without a result for the current code and gold."""
    scored = select(Result.submission_id).where(Result.scorer_sha256 == scorer, Result.gold_sha256 == phase.gold_sha256)
    return and_(Submission.phase_id == phase.id, Submission.state != "rejected", Submission.id.not_in(scored))


def _rescore_phase(session: Session, phase: Phase, scorer: str, now: datetime) -> int:
    queued = 0
    for submission in session.scalars(select(Submission).where(_unscored(phase, scorer)).order_by(Submission.id)):
        if queue_scoring(session, submission, phase, scorer, now):
            queued += 1
            log(session, submission.id, now, "queued for rescoring")
            if submission.state == "failed":
                submission.state = "queued"
    queue_comparison(session, phase.id, now)
    return queued


def _set_deleted(store: Store, actor: Actor, slug: str, *, deleted: bool) -> None:
    with organising(store, actor, slug) as (session, challenge):
        challenge.deleted_at = store.clock() if deleted else None
        action = "challenge.delete" if deleted else "challenge.restore"
        record(session, store, actor, action, slug, challenge_id=challenge.id)


# A deleted challenge is hidden from all but its organisers.
delete_challenge = partial(_set_deleted, deleted=True)
restore_challenge = partial(_set_deleted, deleted=False)


def unlabelled_file(store: Store, actor: Actor, slug: str, phase: str) -> tuple[Path, str]:
    """The path and name of the phase's unlabelled file, available once the phase opens."""
    with reading(store, actor, slug) as (session, challenge):
        chosen = find_phase(challenge, phase)
        if phase_state(chosen, store.clock()) == "planned" and not actor.organises(challenge.id):
            raise NotFound(f"the file is available when phase {phase} opens")
        handouts.check_download(session, actor, challenge)
        return store.files.path("unlabelled", chosen.unlabelled_sha256), chosen.unlabelled_name


def challenge_view(session: Session, store: Store, actor: Actor, challenge: Challenge) -> ChallengeView:
    """A challenge as the actor may see it."""
    task = measured(challenge.task, challenge.metric)
    now = store.clock()
    there = (Team.deleted_at.is_(None), Team.merged_into.is_(None), Team.approved_at.is_not(None))
    standing = (Team.challenge_id == challenge.id, *there)
    return ChallengeView.of(
        challenge,
        task_title=task.metadata.title,
        labels=task.labels,
        metric=task.metadata.metric.name,
        metric_description=task.metadata.metric.description,
        phases=tuple(
            PhaseView.of(
                phase,
                state=phase_state(phase, now),
                board_visible=board_visible(actor, phase, now),
                labels_released=handouts.labels_released(session, phase, now),
                public_items=phase.public["items"] if phase.public and phase.public["sha256"] else None,
            )
            for phase in challenge.phases
        ),
        texts=challenge.texts or {},
        has_survey=bool(challenge.survey),
        teams=session.scalar(select(func.count()).where(*standing)) or 0,
    )
