"""Announcements and messages to teams, and teams that are disqualified."""

import sqlalchemy as sa
from alembic import op
from alembic.util import CommandError

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add what is new."""
    op.add_column("teams", sa.Column("disqualified_for", sa.String(length=500), nullable=True))
    op.create_table(
        "notices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("author", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("withdrawn_at", _MOMENT, nullable=True),
        sa.Column("mailed", sa.Integer(), nullable=False),
        sa.Column("unsent", sa.JSON(), nullable=False),
        sa.Column("sending_until", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name="fk_notices_challenge_id"),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_notices_team_id"),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
    )
    op.create_index("ix_notices_challenge_id", "notices", ["challenge_id"])


def downgrade() -> None:
    """Remove it, unless a team would be back on the board or somebody's words would be lost."""
    for what, query in (
        ("disqualified teams", "SELECT count(*) FROM teams WHERE disqualified_for IS NOT NULL"),
        ("announcements and messages", "SELECT count(*) FROM notices"),
    ):
        if count := op.get_bind().execute(sa.text(query)).scalar_one():
            raise CommandError(f"there are {count} {what}, which the former schema cannot hold")
    op.drop_table("notices")
    op.drop_column("teams", "disqualified_for")
