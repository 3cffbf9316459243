"""The tables of an annotation study: its items, its annotators, and an append-only log of events."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from emoscope.server.store.models import Keyword, Named, Numbered, Sha256


class Study(Numbered):
    """A study; a database holds one. `fingerprint` identifies the tasks and rules it was made from."""

    __tablename__ = "studies"

    rules: Mapped[dict[str, Any]]
    fingerprint: Mapped[Sha256]
    created_at: Mapped[datetime]


class StudyItem(Numbered):
    """A dialogue to be judged; `gold` holds the expected labels of gold questions."""

    __tablename__ = "study_items"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    name: Mapped[str] = mapped_column(Text)
    content: Mapped[dict[str, Any]]
    gold: Mapped[list[str | None]] = mapped_column(JSON)  # an entry for each label that is asked for


class Annotator(Named):
    """Somebody who judges."""

    __tablename__ = "annotators"
    __table_args__ = (UniqueConstraint("study_id", "key"),)

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))


class AnnotationEvent(Numbered):
    """An item was given, judged, skipped or taken back; `id` gives the order."""

    __tablename__ = "annotation_events"
    __table_args__ = (Index(None, "study_id", "id"),)

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    annotator_id: Mapped[int] = mapped_column(ForeignKey("annotators.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("study_items.id"))
    kind: Mapped[Keyword]
    answers: Mapped[list[list[str]]] = mapped_column(JSON)  # each the label, then others that might apply
    at: Mapped[datetime]
