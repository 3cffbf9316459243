"""Jobs keep the reason of their last failure; open boards score a public part of the gold."""

import sqlalchemy as sa
from alembic import op
from alembic.util import CommandError

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what is new."""
    op.add_column("jobs", sa.Column("reason", sa.String(length=300), nullable=True))
    op.add_column("phases", sa.Column("public", sa.JSON(), nullable=True))
    op.add_column("results", sa.Column("public_score", sa.Float(53), nullable=True))
    op.add_column("annotators", sa.Column("link", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("annotators", sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Back to scores on all of the gold; a phase that shows a part of it would change its meaning, so there is none."""
    used = op.get_bind().execute(sa.text("SELECT count(*) FROM results WHERE public_score IS NOT NULL")).scalar_one()
    if used:
        raise CommandError(f"{used} results are on a part of the gold, which the former schema cannot hold")
    op.drop_column("annotators", "revoked_at")
    op.drop_column("annotators", "link")
    op.drop_column("results", "public_score")
    op.drop_column("phases", "public")
    op.drop_column("jobs", "reason")
