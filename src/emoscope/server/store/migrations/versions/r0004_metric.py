"""A challenge may name its metric, and no row of an append-only log can be replaced."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_LOGS = {"audit": "the audit log is append-only", "annotation_events": "the log of judgements is append-only"}


def upgrade() -> None:
    """Add the metric; close the way around SQLite's triggers.

    SQLite's INSERT OR REPLACE removes the old row without asking the trigger that forbids it.
    """
    op.add_column("challenges", sa.Column("metric", sa.String(64)))
    if op.get_bind().dialect.name == "sqlite":
        for table, message in _LOGS.items():
            op.execute(
                f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
                f"WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id) "
                f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            )
