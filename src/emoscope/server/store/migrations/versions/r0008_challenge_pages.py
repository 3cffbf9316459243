"""Texts, files to download, a survey of systems, released labels, and a submission a team chooses as its final one."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)
_KEYWORDS = (("challenges", "downloads", "open"), ("challenges", "report", "optional"), ("phases", "labels", "secret"))


def upgrade() -> None:
    """Add what is new; challenges that are there give out and ask for what they did."""
    for table, name, value in _KEYWORDS:
        op.add_column(table, sa.Column(name, sa.String(length=16), nullable=False, server_default=value))
    op.add_column("challenges", sa.Column("texts", sa.JSON(), nullable=True))
    op.add_column("challenges", sa.Column("survey", sa.JSON(), nullable=True))
    op.add_column("submissions", sa.Column("chosen_at", _MOMENT, nullable=True))
    op.create_table(
        "challenge_files",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name="fk_challenge_files_challenge_id"),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name="fk_challenge_files_phase_id"),
        sa.PrimaryKeyConstraint("id", name="pk_challenge_files"),
        sa.UniqueConstraint("challenge_id", "name", name="uq_challenge_files_challenge_id"),
    )
    op.create_table(
        "reports",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("paper", sa.String(length=500), nullable=False),
        sa.Column("updated_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_reports_team_id"),
        sa.PrimaryKeyConstraint("team_id", name="pk_reports"),
    )


def downgrade() -> None:
    """Back to a description, the phases' files and scores."""
    op.drop_table("reports")
    op.drop_table("challenge_files")
    op.drop_column("submissions", "chosen_at")
    for table, name in (
        ("challenges", "survey"),
        ("challenges", "texts"),
        *((table, name) for table, name, _ in _KEYWORDS),
    ):
        op.drop_column(table, name)
