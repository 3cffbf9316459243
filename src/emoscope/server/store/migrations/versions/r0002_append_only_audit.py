"""The audit log can only grow, and boards keep their last significance comparison."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_MESSAGE = "the audit log is append-only"


def upgrade() -> None:
    """Forbid changes to the log; add the comparisons."""
    op.create_table(
        "comparisons",
        sa.Column("phase_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name="fk_comparisons_phase_id"),
        sa.PrimaryKeyConstraint("phase_id", name="pk_comparisons"),
    )

    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
            "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()"
        )
    else:
        for action in ("update", "delete"):
            op.execute(
                f"CREATE TRIGGER audit_no_{action} BEFORE {action.upper()} ON audit "
                f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
            )


def downgrade() -> None:
    """Back to a log that trusts its writers."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP TRIGGER audit_append_only ON audit")
        op.execute("DROP FUNCTION audit_is_append_only()")
    else:
        for action in ("update", "delete"):
            op.execute(f"DROP TRIGGER audit_no_{action}")
    op.drop_table("comparisons")
