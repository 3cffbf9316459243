"""What migrations share. Released ones rely on it, so it may grow, but what it makes must not change."""

import sqlalchemy as sa
from alembic import op

MOMENT = sa.DateTime(timezone=True)
# Constraints get their names from this, so that later migrations can refer to them on both databases.
NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


def append_only(table: str, name: str, message: str, *, verb: str = "is") -> None:
    """Let a table only grow: triggers, called by the name, refuse to change or remove its rows."""
    if op.get_bind().dialect.name == "postgresql":
        function = f"{name}_{verb}_append_only()"
        body = f"$$ BEGIN RAISE EXCEPTION '{message}'; END $$"
        op.execute(f"CREATE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS {body}")
        op.execute(
            f"CREATE TRIGGER {name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {function}"
        )
    else:
        for action in ("update", "delete"):
            refusal = f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            op.execute(f"CREATE TRIGGER {name}_no_{action} BEFORE {action.upper()} ON {table} {refusal}")
