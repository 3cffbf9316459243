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
