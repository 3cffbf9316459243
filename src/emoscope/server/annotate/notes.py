"""The append-only log of everything but judgements: guidelines, consent, flags, comments, adjudications.

| kind | by | detail |
|---|---|---|
| briefing | manager | `guidelines` and `consent`, both Markdown |
| briefed | annotator | the `version` of the briefing that they accepted |
| comment, flag | annotator | `text` |
| resolved | manager | `text`; closes the item's flags |
| adjudicated | manager | `answers`, the final labels of the item, and `text` |
| reopened | manager | `text`; withdraws the adjudication |
| manager-link | manager | replaces the managers' link |
"""

import hashlib
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal, cast

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from emoscope.core.errors import EmoscopeError
from emoscope.server.annotate.studies import the_study
from emoscope.server.errors import Invalid
from emoscope.server.store import Store
from emoscope.server.store.models import Annotator, Study, StudyItem, StudyNote

NoteKind = Literal["briefing", "briefed", "comment", "flag", "resolved", "adjudicated", "reopened", "manager-link"]
MAX_TEXT, MAX_BRIEFING = 1_000, 40_000
_NOTES_PER_ITEM = 20  # by one annotator


@dataclass(frozen=True, slots=True)
class Briefing:
    """What annotators read before they begin, in Markdown.

    >>> Briefing().version, Briefing("Read twice.").version[:4]
    ('', '1987')
    """

    guidelines: str = ""
    consent: str = ""

    @property
    def version(self) -> str:
        """A hash of the texts; empty if there are none."""
        if not self.guidelines and not self.consent:
            return ""
        return hashlib.sha256(f"{self.guidelines}\x00{self.consent}".encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Remark:
    """A flag or comment, or how one was resolved; `who` is None for a manager."""

    kind: NoteKind
    who: str | None
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ItemNotes:
    """The remarks on an item, its number of open flags, and its adjudicated labels, if any."""

    remarks: tuple[Remark, ...] = ()
    flags: int = 0
    adjudicated: tuple[str, ...] | None = None


def add_note(
    session: Session,
    kind: NoteKind,
    detail: dict[str, Any],
    at: datetime,
    *,
    annotator: int | None = None,
    item: int | None = None,
) -> None:
    """Append to the log."""
    study = the_study(session)
    session.add(StudyNote(study_id=study.id, annotator_id=annotator, item_id=item, kind=kind, detail=detail, at=at))


def briefing_of(session: Session, study: Study) -> Briefing:
    """The current briefing."""
    query = select(StudyNote).where(StudyNote.study_id == study.id, StudyNote.kind == "briefing")
    row = session.scalar(query.order_by(StudyNote.id.desc()).limit(1))
    return Briefing() if row is None else Briefing(**row.detail)


def set_briefing(store: Store, briefing: Briefing, *, again: bool = True) -> bool:
    """Replace the briefing; everyone is then asked to read it. Returns whether it changed.

    Without `again`, a briefing that was replaced earlier is not set again, so that repeating a command does not undo
    what was changed at the desk.
    """
    if len(briefing.guidelines) > MAX_BRIEFING or len(briefing.consent) > MAX_BRIEFING:
        raise Invalid(f"guidelines and consent may have at most {MAX_BRIEFING:,} characters each", field="guidelines")
    with store.database.write() as session:
        study = the_study(session)
        query = select(StudyNote.detail).where(StudyNote.study_id == study.id, StudyNote.kind == "briefing")
        before = [Briefing(**detail) for detail in session.scalars(query.order_by(StudyNote.id))]
        if briefing == (before[-1] if before else Briefing()) or (not again and briefing in before):
            return False
        add_note(session, "briefing", asdict(briefing), store.clock())
    return True


def has_read(session: Session, annotator: int, version: str) -> bool:
    """Whether an annotator has accepted a version of the briefing."""
    query = select(StudyNote.detail).where(StudyNote.annotator_id == annotator, StudyNote.kind == "briefed")
    return any(detail.get("version") == version for detail in session.scalars(query))


def briefed_at(session: Session, study: Study, version: str) -> dict[int, datetime]:
    """When each annotator accepted a version of the briefing."""
    query = select(StudyNote).where(StudyNote.study_id == study.id, StudyNote.kind == "briefed")
    rows = session.scalars(query.order_by(StudyNote.id))
    return {row.annotator_id: row.at for row in rows if row.annotator_id and row.detail.get("version") == version}


def manager_link(session: Session) -> int:
    """The number of the managers' current link."""
    query = select(func.count()).select_from(StudyNote).where(StudyNote.kind == "manager-link")
    return int(session.execute(query).scalar_one())


def renew_manager_link(store: Store) -> None:
    """Replace the managers' link; everyone who used the old one is signed out."""
    with store.database.write() as session:
        add_note(session, "manager-link", {}, store.clock())


def add_remark(session: Session, kind: NoteKind, text: str, at: datetime, *, annotator: int, item: int) -> None:
    """Add an annotator's flag or comment on an item."""
    clean = text.strip()
    if kind == "comment" and not clean:
        raise Invalid("the comment is empty", field="text")
    if len(clean) > MAX_TEXT:
        raise Invalid(f"a comment may have at most {MAX_TEXT:,} characters", field="text")
    own = select(func.count()).select_from(StudyNote)
    own = own.where(StudyNote.annotator_id == annotator, StudyNote.item_id == item)
    if session.execute(own).scalar_one() >= _NOTES_PER_ITEM:
        raise Invalid(f"you have written {_NOTES_PER_ITEM} comments on this item already", field="text")
    add_note(session, kind, {"text": clean}, at, annotator=annotator, item=item)


def adjudicate(store: Store, item: int, labels: list[str], text: str, offered: tuple[str, ...]) -> None:
    """Set the final labels of an item."""
    with store.database.write() as session:
        row = _item(session, item)
        if len(labels) != len(row.gold):
            raise Invalid(f"expected {len(row.gold)} labels, found {len(labels)}", field="label")
        if unknown := [label for label in labels if label not in offered]:
            raise Invalid(f"{unknown[0]!r} is not one of the labels", field="label")
        detail = {"answers": labels, "text": text.strip()[:MAX_TEXT]}
        add_note(session, "adjudicated", detail, store.clock(), item=row.id)


def settle(store: Store, item: int, kind: Literal["resolved", "reopened"], text: str = "") -> None:
    """Close an item's flags, or withdraw its adjudication."""
    with store.database.write() as session:
        add_note(session, kind, {"text": text.strip()[:MAX_TEXT]}, store.clock(), item=_item(session, item).id)


def _item(session: Session, number: int) -> StudyItem:
    row = session.get(StudyItem, number)
    if row is None or row.study_id != the_study(session).id:
        raise EmoscopeError("there is no such item")
    return row


def notes_by_item(session: Session, study: Study) -> dict[int, ItemNotes]:
    """The notes of each item that has any."""
    query = (
        select(StudyNote, Annotator.name)
        .outerjoin(Annotator, StudyNote.annotator_id == Annotator.id)
        .where(StudyNote.study_id == study.id, StudyNote.item_id.is_not(None))
        .order_by(StudyNote.id)
    )
    notes: dict[int, ItemNotes] = {}
    for row, who in session.execute(query):
        item: int = row.item_id or 0
        before = notes.get(item, ItemNotes())
        remark = Remark(cast("NoteKind", row.kind), who, str(row.detail.get("text", "")), row.at)
        flags, adjudicated = before.flags, before.adjudicated
        match row.kind:
            case "flag":
                flags += 1
            case "resolved":
                flags = 0
            case "adjudicated":
                flags, adjudicated = 0, tuple(row.detail["answers"])
            case "reopened":
                adjudicated = None
        notes[item] = ItemNotes((*before.remarks, remark), flags, adjudicated)
    return notes
