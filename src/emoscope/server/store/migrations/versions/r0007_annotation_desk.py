"""The managers' desk: notes beside the judgements, rounds, what is known of annotators, suggestions that were shown."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from alembic.util import CommandError

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_MESSAGE = "the notes of a study are append-only"
_COLUMNS: tuple[tuple[str, str, sa.types.TypeEngine[Any]], ...] = (
    ("study_items", "round", sa.String(length=16)),
    ("annotators", "profile", sa.JSON()),
    ("annotation_events", "suggested", sa.JSON()),
)


def upgrade() -> None:
    """Add them; studies that are there have none of it."""
    for table, name, kind in _COLUMNS:
        op.add_column(table, sa.Column(name, kind, nullable=True))
    op.create_table(
        "study_notes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=True),
        sa.Column("item_id", sa.Integer(), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotators.id"], name="fk_study_notes_annotator_id"),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.id"], name="fk_study_notes_item_id"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_study_notes_study_id"),
        sa.PrimaryKeyConstraint("id", name="pk_study_notes"),
    )
    op.create_index("ix_study_notes_study_id", "study_notes", ["study_id", "kind", "id"], unique=False)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION study_notes_are_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER study_notes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON study_notes "
            "FOR EACH STATEMENT EXECUTE FUNCTION study_notes_are_append_only()"
        )
    else:
        for action in ("update", "delete"):
            op.execute(
                f"CREATE TRIGGER study_notes_no_{action} BEFORE {action.upper()} ON study_notes "
                f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
            )


def downgrade() -> None:
    """Remove them, unless the log holds what the former schema cannot read."""
    used = "SELECT count(*) FROM annotation_events WHERE kind IN ('revised', 'imported')"
    if count := op.get_bind().execute(sa.text(used)).scalar_one():
        raise CommandError(f"{count} judgements were changed later or imported, which the former schema cannot hold")
    if count := op.get_bind().execute(sa.text("SELECT count(*) FROM study_notes")).scalar_one():
        raise CommandError(f"{count} notes of studies would be lost")
    op.drop_table("study_notes")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION study_notes_are_append_only()")
    for table, name, _ in reversed(_COLUMNS):
        op.drop_column(table, name)
