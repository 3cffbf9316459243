"""The database, SQLite or PostgreSQL, with sessions to read and transactions to write.

On SQLite a write takes the write lock at its start (BEGIN IMMEDIATE), so that writers queue instead of failing later.
On PostgreSQL the services lock the rows that they decide on.
"""

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError, TimeoutError
from sqlalchemy.orm import Session

from emoscope.core.errors import EmoscopeError
from emoscope.server.errors import StoreUnavailable

# How long a writer waits for another one.
LOCK_SECONDS = 30
# How often a continuing outage is logged.
LOG_SECONDS = 30
_log = logging.getLogger("emoscope.server")


class Database:
    """A database engine, with sessions to read and to write.

    >>> from sqlalchemy import text
    >>> database = Database("sqlite://")
    >>> with database.read() as session:
    ...     session.execute(text("select 1")).scalar_one()
    1
    """

    def __init__(self, url: str) -> None:
        try:
            self.url = make_url(url)
        except ArgumentError:
            raise EmoscopeError(
                "the database address is not valid; expected e.g. postgresql+psycopg://HOST/NAME"
            ) from None
        if self.url.get_backend_name() not in {"sqlite", "postgresql"}:
            raise EmoscopeError(f"{self.url.get_backend_name()}: only sqlite and postgresql are supported")
        self.engine = _engine(self.url.render_as_string(hide_password=False))
        self._writing = self.engine.execution_options(writes=True)
        self._outage_logged: float | None = None  # when an outage that has not ended was last logged

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite."""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session to read; its objects stay readable after the block."""
        with self._clear_errors(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that is committed when the block ends, or rolled back on an error."""
        with self._clear_errors(), Session(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn the errors of a database that is down, full or locked into one line that does not reveal its address."""
        try:
            yield
        except TimeoutError:
            raise self._outage("all connections to the database are in use; try again") from None
        except (OperationalError, InterfaceError) as error:
            raise self._outage(_reason(error), error) from None
        except DBAPIError as error:
            if error.connection_invalidated:
                raise self._outage("the database connection was lost; try again", error) from None
            raise
        else:
            if self._outage_logged is not None:
                self._outage_logged = None
                _log.warning("the database answers again")

    def _outage(self, reason: str, error: DBAPIError | None = None) -> StoreUnavailable:
        """Log an outage, at most once every `LOG_SECONDS`."""
        now = time.monotonic()
        if self._outage_logged is None or now > self._outage_logged + LOG_SECONDS:
            self._outage_logged = now
            first = next(iter(str(error.orig).strip().splitlines()), "") if error else ""
            _log.error("%s%s", reason, f" ({first})" if first else "")
        return StoreUnavailable(reason)


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True, pool_size=8, max_overflow=24, pool_timeout=LOCK_SECONDS)
    engine = create_engine(url, connect_args={"timeout": LOCK_SECONDS})

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _: object) -> None:
        connection.isolation_level = None  # we issue BEGIN ourselves
        cursor = connection.cursor()
        _use_wal(cursor)
        cursor.execute("PRAGMA synchronous=FULL")  # committed data survives a power cut
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _use_wal(cursor: sqlite3.Cursor) -> None:
    """Switch to write-ahead logging; SQLite itself does not wait for another process that is switching a new file."""
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _reason(error: DBAPIError) -> str:
    reason = str(error.orig).lower()
    if "full" in reason or "no space" in reason:
        return "the disk of the database is full; nothing was changed"
    if "locked" in reason or "lock timeout" in reason:
        return "the database is busy; try again"
    if "readonly" in reason or "read-only" in reason:
        return "the database is read-only; nothing was changed"
    return "the database cannot be used at the moment; nothing was changed"
