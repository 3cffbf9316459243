"""Texts, files to download, a survey of systems, released labels, and a submission a team chooses as its final one."""

import sqlalchemy as sa
from alembic import op

from emoscope.server.store.migrations.tables import MOMENT

revision = "0008"
down_revision = "0007"

_KEYWORDS = (("challenges", "downloads", "open"), ("challenges", "report", "optional"), ("phases", "labels", "secret"))


def upgrade() -> None:
    """Add what is new; challenges that are there give out and ask for what they did."""
    for table, name, value in _KEYWORDS:
        op.add_column(table, sa.Column(name, sa.String(16), nullable=False, server_default=value))
    op.add_column("challenges", sa.Column("texts", sa.JSON))
    op.add_column("challenges", sa.Column("survey", sa.JSON))
    op.add_column("submissions", sa.Column("chosen_at", MOMENT))
    op.create_table(
        "challenge_files",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("challenge_id", sa.Integer, sa.ForeignKey("challenges.id"), nullable=False),
        sa.Column("phase_id", sa.Integer, sa.ForeignKey("phases.id")),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.UniqueConstraint("challenge_id", "name"),
    )
    op.create_table(
        "reports",
        sa.Column("team_id", sa.Integer, sa.ForeignKey("teams.id"), primary_key=True),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("summary", sa.Text, nullable=False),
        sa.Column("paper", sa.String(500), nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
    )
