"""The managers' desk: notes beside the judgements, rounds, what is known of annotators, suggestions that were shown."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from emoscope.server.store.migrations.tables import MOMENT, append_only

revision = "0007"
down_revision = "0006"

_COLUMNS: tuple[tuple[str, str, sa.types.TypeEngine[Any]], ...] = (
    ("study_items", "round", sa.String(16)),
    ("annotators", "profile", sa.JSON()),
    ("annotation_events", "suggested", sa.JSON()),
)


def upgrade() -> None:
    """Add them; studies that are there have none of it."""
    for table, name, kind in _COLUMNS:
        op.add_column(table, sa.Column(name, kind))
    op.create_table(
        "study_notes",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id")),
        sa.Column("item_id", sa.Integer, sa.ForeignKey("study_items.id")),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
    )
    op.create_index("ix_study_notes_study_id", "study_notes", ["study_id", "kind", "id"], unique=False)
    append_only("study_notes", "study_notes", "the notes of a study are append-only", verb="are")
