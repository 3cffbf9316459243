"""The tables of a shared task."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "challenges",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("task", sa.String(length=64), nullable=False),
        sa.Column("registration", sa.String(length=16), nullable=False),
        sa.Column("max_teams", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_challenges"),
        sa.UniqueConstraint("slug", name="uq_challenges_slug"),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=120), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("object", sa.String(length=200), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=True),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name="fk_audit_challenge_id"),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_challenge_id", "audit", ["challenge_id"], unique=False)
    op.create_table(
        "phases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("opens_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closes_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("per_day", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("rejected_per_day", sa.Integer(), nullable=False),
        sa.Column("board", sa.String(length=16), nullable=False),
        sa.Column("counts", sa.String(length=16), nullable=False),
        sa.Column("max_bytes", sa.Integer(), nullable=False),
        sa.Column("published", sa.Boolean(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("unlabelled_sha256", sa.String(length=64), nullable=False),
        sa.Column("unlabelled_name", sa.String(length=120), nullable=False),
        sa.Column("gold_sha256", sa.String(length=64), nullable=False),
        sa.Column("humans", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name="fk_phases_challenge_id"),
        sa.PrimaryKeyConstraint("id", name="pk_phases"),
        sa.UniqueConstraint("challenge_id", "name", name="uq_phases_challenge_id"),
    )
    op.create_table(
        "teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("merged_into", sa.Integer(), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name="fk_teams_challenge_id"),
        sa.ForeignKeyConstraint(["merged_into"], ["teams.id"], name="fk_teams_merged_into"),
        sa.PrimaryKeyConstraint("id", name="pk_teams"),
        sa.UniqueConstraint("challenge_id", "key", name="uq_teams_challenge_id"),
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_invitations_team_id"),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.UniqueConstraint("hash", name="uq_invitations_hash"),
    )
    op.create_index("ix_invitations_team_id", "invitations", ["team_id"], unique=False)
    op.create_table(
        "members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_members_team_id"),
        sa.PrimaryKeyConstraint("id", name="pk_members"),
    )
    op.create_index("ix_members_team_id", "members", ["team_id"], unique=False)
    op.create_table(
        "merges",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("from_team_id", sa.Integer(), nullable=False),
        sa.Column("to_team_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["from_team_id"], ["teams.id"], name="fk_merges_from_team_id"),
        sa.ForeignKeyConstraint(["to_team_id"], ["teams.id"], name="fk_merges_to_team_id"),
        sa.PrimaryKeyConstraint("id", name="pk_merges"),
    )
    op.create_index("ix_merges_from_team_id", "merges", ["from_team_id"], unique=False)
    op.create_index("ix_merges_to_team_id", "merges", ["to_team_id"], unique=False)
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=32), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("member_id", sa.Integer(), nullable=False),
        sa.Column("request_key", sa.String(length=128), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("file_name", sa.String(length=120), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("note", sa.String(length=500), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("charged", sa.Boolean(), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["member_id"], ["members.id"], name="fk_submissions_member_id"),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name="fk_submissions_phase_id"),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_submissions_team_id"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("public_id", name="uq_submissions_public_id"),
        sa.UniqueConstraint("member_id", "phase_id", "request_key", name="uq_submissions_member_id"),
    )
    op.create_index("ix_submissions_quota", "submissions", ["phase_id", "team_id", "day"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("challenge_id", sa.Integer(), nullable=True),
        sa.Column("member_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["challenge_id"], ["challenges.id"], name="fk_tokens_challenge_id"),
        sa.ForeignKeyConstraint(["member_id"], ["members.id"], name="fk_tokens_member_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("hash", name="uq_tokens_hash"),
    )
    op.create_index("ix_tokens_member_id", "tokens", ["member_id"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("phase_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=True),
        sa.Column("scorer_sha256", sa.String(length=64), nullable=True),
        sa.Column("gold_sha256", sa.String(length=64), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.Column("lease", sa.String(length=32), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["phase_id"], ["phases.id"], name="fk_jobs_phase_id"),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_jobs_submission_id"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.UniqueConstraint("key", name="uq_jobs_key"),
    )
    op.create_index("ix_jobs_due", "jobs", ["state", "not_before"], unique=False)
    op.create_index("ix_jobs_submission_id", "jobs", ["submission_id"], unique=False)
    op.create_table(
        "results",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("scorer_sha256", sa.String(length=64), nullable=False),
        sa.Column("gold_sha256", sa.String(length=64), nullable=False),
        sa.Column("score", sa.Float(precision=53), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("score >= 0 AND score <= 1", name="ck_results_fraction"),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_results_submission_id"),
        sa.PrimaryKeyConstraint("id", name="pk_results"),
        sa.UniqueConstraint("submission_id", "scorer_sha256", "gold_sha256", name="uq_results_submission_id"),
    )
    op.create_table(
        "submission_log",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", sa.String(length=500), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_submission_log_submission_id"),
        sa.PrimaryKeyConstraint("id", name="pk_submission_log"),
    )
    op.create_index("ix_submission_log_submission_id", "submission_log", ["submission_id"], unique=False)


def downgrade() -> None:
    """Remove them, those that refer to others first."""
    for table in (
        "submission_log",
        "results",
        "jobs",
        "tokens",
        "submissions",
        "merges",
        "members",
        "invitations",
        "teams",
        "phases",
        "audit",
        "challenges",
    ):
        op.drop_table(table)
