"""The tables of an annotation study: what is asked, who is asked, and a log of all that happened, which only grows."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from emoscope.server.store.models import Base


class Study(Base):
    """A study; a database holds one. `fingerprint` tells whether a set of tasks and rules is the one it was made of."""

    __tablename__ = "studies"

    id: Mapped[int] = mapped_column(primary_key=True)
    rules: Mapped[dict[str, Any]]
    fingerprint: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]


class StudyItem(Base):
    """A dialogue to be judged, with what is known of it; the answers to gold questions are under `gold`."""

    __tablename__ = "study_items"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    name: Mapped[str] = mapped_column(Text)
    content: Mapped[dict[str, Any]]
    gold: Mapped[list[str | None]] = mapped_column(JSON)  # an entry for each label that is asked for


class Annotator(Base):
    """Somebody who judges; `key` is the name as compared, so that two cannot look alike."""

    __tablename__ = "annotators"
    __table_args__ = (UniqueConstraint("study_id", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    name: Mapped[str] = mapped_column(String(64))
    key: Mapped[str] = mapped_column(String(128))
    created_at: Mapped[datetime]


class AnnotationEvent(Base):
    """What happened, in the order of `id`: an item was given, judged, skipped or taken back."""

    __tablename__ = "annotation_events"
    __table_args__ = (Index(None, "study_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    annotator_id: Mapped[int] = mapped_column(ForeignKey("annotators.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("study_items.id"))
    kind: Mapped[str] = mapped_column(String(16))
    answers: Mapped[list[list[str]]] = mapped_column(JSON)  # each the label, then others that might apply
    at: Mapped[datetime]
