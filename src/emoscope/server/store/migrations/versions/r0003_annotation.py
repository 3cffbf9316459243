"""The tables of annotation studies; their log can only grow."""

import sqlalchemy as sa
from alembic import op

from emoscope.server.store.migrations.tables import MOMENT, append_only

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("rules", sa.JSON, nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_table(
        "study_items",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("gold", sa.JSON, nullable=False),
        sa.UniqueConstraint("study_id", "name"),
    )
    op.create_table(
        "annotators",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("key", sa.String(128), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.UniqueConstraint("study_id", "key"),
    )
    op.create_table(
        "annotation_events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
        sa.Column("annotator_id", sa.Integer, sa.ForeignKey("annotators.id"), nullable=False),
        sa.Column("item_id", sa.Integer, sa.ForeignKey("study_items.id"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
    )
    op.create_index("ix_annotation_events_study_id", "annotation_events", ["study_id", "id"], unique=False)
    append_only("annotation_events", "annotation", "the log of judgements is append-only")
