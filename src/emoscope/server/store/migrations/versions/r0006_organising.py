"""Announcements and messages to teams, and teams that are disqualified."""

import sqlalchemy as sa
from alembic import op

from emoscope.server.store.migrations.tables import MOMENT

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add what is new."""
    op.add_column("teams", sa.Column("disqualified_for", sa.String(500)))
    op.create_table(
        "notices",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("challenge_id", sa.Integer, sa.ForeignKey("challenges.id"), nullable=False, index=True),
        sa.Column("team_id", sa.Integer, sa.ForeignKey("teams.id")),
        sa.Column("author", sa.String(64), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("withdrawn_at", MOMENT),
        sa.Column("mailed", sa.Integer, nullable=False),
        sa.Column("unsent", sa.JSON, nullable=False),
        sa.Column("sending_until", MOMENT),
    )
