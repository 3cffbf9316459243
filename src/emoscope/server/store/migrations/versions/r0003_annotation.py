"""The tables of annotation studies; their log can only grow."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_MESSAGE = "the log of judgements is append-only"


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
    )
    op.create_table(
        "study_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("gold", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_study_items_study_id"),
        sa.PrimaryKeyConstraint("id", name="pk_study_items"),
        sa.UniqueConstraint("study_id", "name", name="uq_study_items_study_id"),
    )
    op.create_table(
        "annotators",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_annotators_study_id"),
        sa.PrimaryKeyConstraint("id", name="pk_annotators"),
        sa.UniqueConstraint("study_id", "key", name="uq_annotators_study_id"),
    )
    op.create_table(
        "annotation_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotators.id"], name="fk_annotation_events_annotator_id"),
        sa.ForeignKeyConstraint(["item_id"], ["study_items.id"], name="fk_annotation_events_item_id"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_annotation_events_study_id"),
        sa.PrimaryKeyConstraint("id", name="pk_annotation_events"),
    )
    op.create_index("ix_annotation_events_study_id", "annotation_events", ["study_id", "id"], unique=False)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION annotation_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER annotation_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON annotation_events "
            "FOR EACH STATEMENT EXECUTE FUNCTION annotation_is_append_only()"
        )
    else:
        for action in ("update", "delete"):
            op.execute(
                f"CREATE TRIGGER annotation_no_{action} BEFORE {action.upper()} ON annotation_events "
                f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
            )


def downgrade() -> None:
    """Remove them, and all judgements with them."""
    for name in ("annotation_events", "annotators", "study_items", "studies"):
        op.drop_table(name)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION annotation_is_append_only()")
