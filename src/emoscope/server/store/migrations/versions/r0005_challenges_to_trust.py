"""Registration that can be steered, open boards on a part of the gold, reasons of failed jobs, revocable links."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from alembic.util import CommandError

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)
_COLUMNS: tuple[tuple[str, str, sa.types.TypeEngine[Any]], ...] = (
    ("jobs", "reason", sa.String(length=300)),
    ("phases", "public", sa.JSON()),
    ("results", "public_score", sa.Float(53)),
    ("annotators", "revoked_at", _MOMENT),
    ("teams", "approved_at", _MOMENT),
    ("members", "verified_at", _MOMENT),
    ("members", "subject", sa.String(length=400)),
)


def upgrade() -> None:
    """Add what is new; teams that are there have been let in."""
    for table, name, kind in _COLUMNS:
        op.add_column(table, sa.Column(name, kind, nullable=True))
    op.add_column("annotators", sa.Column("link", sa.Integer(), nullable=False, server_default="0"))
    op.execute("UPDATE teams SET approved_at = created_at")
    op.create_index("ix_members_subject", "members", ["subject"])
    op.create_table(
        "one_time_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("member_id", sa.Integer(), nullable=True),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.Column("used_at", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name="fk_one_time_links_challenge_id"),
        sa.ForeignKeyConstraint(["member_id"], ["members.id"], name="fk_one_time_links_member_id"),
        sa.PrimaryKeyConstraint("id", name="pk_one_time_links"),
        sa.UniqueConstraint("hash", name="uq_one_time_links_hash"),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("who", sa.String(length=64), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
    )
    op.create_index("ix_attempts_who", "attempts", ["kind", "who", "at"])
    op.create_table(
        "ended_sessions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_ended_sessions"),
    )


def downgrade() -> None:
    """Back to open registration and scores on all of the gold, unless that would change what somebody relies on."""
    used = "SELECT count(*) FROM results WHERE public_score IS NOT NULL"
    if count := op.get_bind().execute(sa.text(used)).scalar_one():
        raise CommandError(f"{count} results are on a part of the gold, which the former schema cannot hold")
    used = "SELECT count(*) FROM challenges WHERE registration NOT IN ('open', 'closed')"
    if count := op.get_bind().execute(sa.text(used)).scalar_one():
        raise CommandError(f"{count} challenges do not let everybody in, which the former schema cannot hold")
    for table in ("ended_sessions", "attempts", "one_time_links"):
        op.drop_table(table)
    op.drop_index("ix_members_subject", "members")
    op.drop_column("annotators", "link")
    for table, name, _ in reversed(_COLUMNS):
        op.drop_column(table, name)
