"""Schema migrations, each run in one transaction."""

from pathlib import Path
from typing import Any

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import MetaData

from emoscope.core.errors import EmoscopeError
from emoscope.server.store.database import Database
from emoscope.server.store.migrations.tables import NAMING


def _script() -> ScriptDirectory:
    return ScriptDirectory(str(Path(__file__).with_name("migrations")))


def newest() -> str:
    """The revision that this version of emoscope needs."""
    return str(_script().get_current_head())


def current(database: Database) -> str | None:
    """The revision of a database, or None if it is empty."""
    with database.read() as session:
        return MigrationContext.configure(session.connection()).get_current_revision()


def upgrade(database: Database, revision: str = "head") -> None:
    """Upgrade a database; concurrent upgrades wait for each other.

    >>> database = Database("sqlite://")
    >>> upgrade(database)
    >>> current(database) == newest()
    True
    """
    script = _script()
    if revision == "head" and current(database) == script.get_current_head():
        return
    with database.write() as session:
        connection = session.connection()
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7305221)")  # any number, the same in each process
        # Alembic assumes that SQLite cannot roll back DDL; with an explicit BEGIN it can.
        options: dict[str, Any] = {"transactional_ddl": True, "target_metadata": MetaData(naming_convention=NAMING)}
        options["fn"] = lambda at, _: script._upgrade_revs(revision, at)
        context = MigrationContext.configure(connection, opts=options)
        try:
            with Operations.context(context):
                context.run_migrations()
        except CommandError as error:
            raise EmoscopeError(f"the database cannot be migrated: {error}") from None


def require_current(database: Database) -> None:
    """Raise an error that says how to upgrade, unless the database has the newest revision."""
    at = current(database)
    if at != newest():
        state = "has no tables yet" if at is None else f"is at revision {at}, expected {newest()}"
        raise EmoscopeError(f"the database {state}; run: emoscope challenge upgrade")
