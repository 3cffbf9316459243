"""Registration that can be steered, open boards on a part of the gold, reasons of failed jobs, revocable links."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from emoscope.server.store.migrations.tables import MOMENT

revision = "0005"
down_revision = "0004"

_COLUMNS: tuple[tuple[str, str, sa.types.TypeEngine[Any]], ...] = (
    ("jobs", "reason", sa.String(300)),
    ("phases", "public", sa.JSON()),
    ("results", "public_score", sa.Float(53)),
    ("annotators", "revoked_at", MOMENT),
    ("teams", "approved_at", MOMENT),
    ("members", "verified_at", MOMENT),
    ("members", "subject", sa.String(400)),
)


def upgrade() -> None:
    """Add what is new; teams that are there have been let in."""
    for table, name, kind in _COLUMNS:
        op.add_column(table, sa.Column(name, kind))
    op.add_column("annotators", sa.Column("link", sa.Integer, nullable=False, server_default="0"))
    op.execute("UPDATE teams SET approved_at = created_at")
    op.create_index("ix_members_subject", "members", ["subject"])
    op.create_table(
        "one_time_links",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("challenge_id", sa.Integer, sa.ForeignKey("challenges.id"), nullable=False),
        sa.Column("member_id", sa.Integer, sa.ForeignKey("members.id")),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("who", sa.String(64), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
    )
    op.create_index("ix_attempts_who", "attempts", ["kind", "who", "at"])
    op.create_table(
        "ended_sessions",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("expires_at", MOMENT, nullable=False),
    )
