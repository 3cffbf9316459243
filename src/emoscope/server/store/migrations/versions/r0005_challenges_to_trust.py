"""Jobs keep the reason of their last failure."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what is new."""
    op.add_column("jobs", sa.Column("reason", sa.String(length=300), nullable=True))


def downgrade() -> None:
    """Back to jobs without a reason."""
    op.drop_column("jobs", "reason")
