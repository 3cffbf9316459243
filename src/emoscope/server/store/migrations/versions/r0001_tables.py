"""The tables of a shared task."""

import sqlalchemy as sa
from alembic import op

from emoscope.server.store.migrations.tables import MOMENT

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "challenges",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("slug", sa.String(64), nullable=False, unique=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("task", sa.String(64), nullable=False),
        sa.Column("registration", sa.String(16), nullable=False),
        sa.Column("max_teams", sa.Integer, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("deleted_at", MOMENT),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("actor", sa.String(120), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("object", sa.String(200), nullable=False),
        sa.Column("challenge_id", sa.Integer, sa.ForeignKey("challenges.id"), index=True),
        sa.Column("detail", sa.JSON, nullable=False),
    )
    op.create_table(
        "phases",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("challenge_id", sa.Integer, sa.ForeignKey("challenges.id"), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("opens_at", MOMENT),
        sa.Column("closes_at", MOMENT),
        sa.Column("time_zone", sa.String(64), nullable=False),
        sa.Column("per_day", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer),
        sa.Column("rejected_per_day", sa.Integer, nullable=False),
        sa.Column("board", sa.String(16), nullable=False),
        sa.Column("counts", sa.String(16), nullable=False),
        sa.Column("max_bytes", sa.Integer, nullable=False),
        sa.Column("published", sa.Boolean, nullable=False),
        sa.Column("items", sa.Integer, nullable=False),
        sa.Column("unlabelled_sha256", sa.String(64), nullable=False),
        sa.Column("unlabelled_name", sa.String(120), nullable=False),
        sa.Column("gold_sha256", sa.String(64), nullable=False),
        sa.Column("humans", sa.JSON),
        sa.UniqueConstraint("challenge_id", "name"),
    )
    op.create_table(
        "teams",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("challenge_id", sa.Integer, sa.ForeignKey("challenges.id"), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("key", sa.String(128), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("merged_into", sa.Integer, sa.ForeignKey("teams.id")),
        sa.Column("deleted_at", MOMENT),
        sa.UniqueConstraint("challenge_id", "key"),
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("team_id", sa.Integer, sa.ForeignKey("teams.id"), nullable=False, index=True),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT),
    )
    op.create_table(
        "members",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("team_id", sa.Integer, sa.ForeignKey("teams.id"), nullable=False, index=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("email", sa.String(254)),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_table(
        "merges",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("from_team_id", sa.Integer, sa.ForeignKey("teams.id"), nullable=False, index=True),
        sa.Column("to_team_id", sa.Integer, sa.ForeignKey("teams.id"), nullable=False, index=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("decided_at", MOMENT),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("public_id", sa.String(32), nullable=False, unique=True),
        sa.Column("phase_id", sa.Integer, sa.ForeignKey("phases.id"), nullable=False),
        sa.Column("team_id", sa.Integer, sa.ForeignKey("teams.id"), nullable=False),
        sa.Column("member_id", sa.Integer, sa.ForeignKey("members.id"), nullable=False),
        sa.Column("request_key", sa.String(128)),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("file_name", sa.String(120), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("note", sa.String(500), nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("charged", sa.Boolean, nullable=False),
        sa.Column("problems", sa.JSON, nullable=False),
        sa.Column("deleted_at", MOMENT),
        sa.UniqueConstraint("member_id", "phase_id", "request_key"),
    )
    op.create_index("ix_submissions_quota", "submissions", ["phase_id", "team_id", "day"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("challenge_id", sa.Integer, sa.ForeignKey("challenges.id")),
        sa.Column("member_id", sa.Integer, sa.ForeignKey("members.id"), index=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT),
        sa.Column("revoked_at", MOMENT),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(200), nullable=False, unique=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("phase_id", sa.Integer, sa.ForeignKey("phases.id"), nullable=False),
        sa.Column("submission_id", sa.Integer, sa.ForeignKey("submissions.id"), index=True),
        sa.Column("scorer_sha256", sa.String(64)),
        sa.Column("gold_sha256", sa.String(64)),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("lost", sa.Integer, nullable=False),
        sa.Column("lease", sa.String(32)),
        sa.Column("leased_until", MOMENT),
        sa.Column("not_before", MOMENT, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT),
    )
    op.create_index("ix_jobs_due", "jobs", ["state", "not_before"], unique=False)
    op.create_table(
        "results",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("submission_id", sa.Integer, sa.ForeignKey("submissions.id"), nullable=False),
        sa.Column("scorer_sha256", sa.String(64), nullable=False),
        sa.Column("gold_sha256", sa.String(64), nullable=False),
        sa.Column("score", sa.Float(53), nullable=False),
        sa.Column("figures", sa.JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.CheckConstraint("score >= 0 AND score <= 1", name="fraction"),
        sa.UniqueConstraint("submission_id", "scorer_sha256", "gold_sha256"),
    )
    op.create_table(
        "submission_log",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("submission_id", sa.Integer, sa.ForeignKey("submissions.id"), nullable=False, index=True),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("text", sa.String(500), nullable=False),
    )
