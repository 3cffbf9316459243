"""The audit log can only grow, and boards keep their last significance comparison."""

import sqlalchemy as sa
from alembic import op

from emoscope.server.store.migrations.tables import MOMENT, append_only

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Forbid changes to the log; add the comparisons."""
    op.create_table(
        "comparisons",
        sa.Column("phase_id", sa.Integer, sa.ForeignKey("phases.id"), autoincrement=False, primary_key=True),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("rows", sa.JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )

    append_only("audit", "audit", "the audit log is append-only")


def downgrade() -> None:
    """Back to a log that trusts its writers."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP TRIGGER audit_append_only ON audit")
        op.execute("DROP FUNCTION audit_is_append_only()")
    else:
        for action in ("update", "delete"):
            op.execute(f"DROP TRIGGER audit_no_{action}")
    op.drop_table("comparisons")
