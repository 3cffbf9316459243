"""Files for participants: training data, and the labels of phases."""

from datetime import datetime
from pathlib import Path, PurePath

from sqlalchemy import select
from sqlalchemy.orm import Session

from emoscope.server.challenge.services.actor import Actor, require_member
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import (
    find_challenge,
    find_organised,
    find_phase,
    find_team,
    labels_out,
    organising,
    phase_state,
    ranking_over,
    reading,
)
from emoscope.server.challenge.services.uploads import clean_file_name
from emoscope.server.challenge.views import FileView
from emoscope.server.errors import Conflict, NotAllowed, NotFound
from emoscope.server.store import Store
from emoscope.server.store.file_store import StoredFile
from emoscope.server.store.models import AuditEntry, Challenge, ChallengeFile, Phase

_GIVEN = "labels.give"
_WHEN = {"closed": "; teams get them when it closes", "next": "; teams get them when the next phase opens"}


def check_registered(session: Session, actor: Actor, challenge: Challenge) -> None:
    """Refuse everyone but the organisers and members of approved teams."""
    if actor.organises(challenge.id):
        return
    if find_team(session, challenge, require_member(actor, challenge.id)).approved_at is None:
        raise NotAllowed("your team is waiting for the organisers' approval")


def check_download(session: Session, actor: Actor, challenge: Challenge) -> None:
    """Refuse people who may not download this challenge's files."""
    if challenge.downloads == "registered":
        check_registered(session, actor, challenge)


def list_files(store: Store, actor: Actor, slug: str) -> list[FileView]:
    """List the files for participants, other than those of the phases, with the phase that releases them."""
    with reading(store, actor, slug) as (session, challenge):
        return [_view(file, store.clock()) for file in _files(session, challenge)]


def _view(file: ChallengeFile, now: datetime) -> FileView:
    planned = file.phase is not None and phase_state(file.phase, now) == "planned"
    return FileView.of(file, phase=file.phase.name if file.phase is not None else None, given_out=not planned)


def _files(session: Session, challenge: Challenge) -> list[ChallengeFile]:
    query = select(ChallengeFile).where(ChallengeFile.challenge_id == challenge.id).order_by(ChallengeFile.id)
    return list(session.scalars(query))


def _find_file(session: Session, challenge: Challenge, name: str) -> ChallengeFile:
    for file in _files(session, challenge):
        if file.name == name:
            return file
    raise NotFound(f"{challenge.slug} has no file {name[:120]!r}")


def challenge_file(store: Store, actor: Actor, slug: str, name: str) -> tuple[Path, str]:
    """The path and name of a file to download."""
    with reading(store, actor, slug) as (session, challenge):
        check_download(session, actor, challenge)
        file = _find_file(session, challenge, name)
        if not _view(file, store.clock()).given_out and not actor.organises(challenge.id):
            raise NotFound(f"the file is available when phase {file.phase and file.phase.name} opens")
        return store.files.path("unlabelled", file.sha256), file.name


def add_file(
    store: Store, actor: Actor, slug: str, path: str | Path, *, title: str = "", phase: str | None = None
) -> FileView:
    """Make a file available now or when a phase opens; one with the same name is replaced."""
    with store.database.read() as session:
        find_organised(session, actor, slug)
    kept = store.files.keep_file(Path(path), "unlabelled")
    with organising(store, actor, slug) as (session, challenge):
        keep(session, store, challenge, kept, Path(path).name, title, phase)
        record(session, store, actor, "file.add", slug, challenge_id=challenge.id, name=Path(path).name)
        return _view(_find_file(session, challenge, Path(path).name), store.clock())


def remove_file(store: Store, actor: Actor, slug: str, name: str) -> None:
    """Stop offering a file."""
    with organising(store, actor, slug) as (session, challenge):
        session.delete(_find_file(session, challenge, name))
        record(session, store, actor, "file.remove", slug, challenge_id=challenge.id, name=name)


def keep(
    session: Session,
    store: Store,
    challenge: Challenge,
    stored: StoredFile,
    name: str,
    title: str | None,
    phase: str | None,
) -> None:
    """Add a file in the current transaction, but never the gold of a phase that still ranks submissions."""
    now, name = store.clock(), clean_file_name(name)
    for other in session.scalars(select(Phase).where(Phase.gold_sha256 == stored.sha256)):
        if not ranking_over(other, now):
            raise Conflict(f"{name} is the gold file of phase {other.name}; use its `labels` setting instead")
    earlier = next((file for file in _files(session, challenge) if file.name == name), None)
    if earlier is not None:
        session.delete(earlier)
        session.flush()
    session.add(
        ChallengeFile(
            challenge_id=challenge.id,
            phase_id=None if phase is None else find_phase(challenge, phase).id,
            name=name,
            title=(title or name)[:200],
            sha256=stored.sha256,
            size=stored.size,
            created_at=now,
        )
    )
    session.flush()


def labels_released(session: Session, phase: Phase, now: datetime) -> bool:
    """Whether teams can get a phase's gold.

    The time of their release must have come; or the phase must have closed, and the next one opened if the challenge
    says so. And no phase of any challenge with the same items may still rank submissions.
    """
    if not _due(phase, now):
        return False
    same = (Phase.gold_sha256 == phase.gold_sha256) | (Phase.unlabelled_sha256 == phase.unlabelled_sha256)
    return all(ranking_over(other, now) for other in session.scalars(select(Phase).where(same)))


def _due(phase: Phase, now: datetime) -> bool:
    """Whether the time of the release has come, whatever other phases do."""
    return labels_out(phase, now) or _released_after(phase, now)


def _released_after(phase: Phase, now: datetime) -> bool:
    """Whether the phase has closed, and the next one opened if its labels wait for that."""
    if phase.labels == "secret" or phase_state(phase, now) != "closed":
        return False
    after = [other for other in phase.challenge.phases if other.position > phase.position]
    return phase.labels == "closed" or bool(after and phase_state(after[0], now) != "planned")


def labels_file(store: Store, actor: Actor, slug: str, phase: str) -> tuple[Path, str]:
    """The path and name of a phase's released gold, for teams; downloads are recorded in the audit log."""
    with store.database.write() as session:
        challenge = find_challenge(session, actor, slug)
        check_registered(session, actor, challenge)
        chosen = find_phase(challenge, phase)
        if not labels_released(session, chosen, store.clock()):
            raise NotFound(f"the labels of phase {phase} are not available{_when(chosen, store.clock())}")
        thing = f"{slug}/{phase}"
        seen = select(AuditEntry.id).where(
            AuditEntry.action == _GIVEN, AuditEntry.object == thing, AuditEntry.actor == actor.label[:120]
        )
        if session.scalar(seen.limit(1)) is None:
            record(session, store, actor, _GIVEN, thing, challenge_id=challenge.id, sha256=chosen.gold_sha256)
        given = PurePath(chosen.unlabelled_name)
        return store.files.path("gold", chosen.gold_sha256), f"{given.stem}-labels{given.suffix}"


def _when(phase: Phase, now: datetime) -> str:
    if phase.labels_at is not None and phase.labels_at > now:
        return f"; teams get them at {phase.labels_at.isoformat(timespec='minutes')}"
    if _due(phase, now):
        return " while another phase ranks submissions on the same items"
    return _WHEN.get(phase.labels, "")


def check_labels_unseen(session: Session, phase: Phase, action: str = "be reopened") -> None:
    """Refuse to reopen a phase whose labels were downloaded, or another action."""
    thing = f"{phase.challenge.slug}/{phase.name}"
    if session.scalar(select(AuditEntry.id).where(AuditEntry.action == _GIVEN, AuditEntry.object == thing).limit(1)):
        raise Conflict(f"phase {phase.name} cannot {action}: its labels have been downloaded")
