"""The store: the database, files and clock that all services use."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text

from emoscope.core.errors import EmoscopeError
from emoscope.server.store.database import Database
from emoscope.server.store.file_store import FileStore
from emoscope.server.store.migrate import require_current, upgrade

DATABASE_FILE = "emoscope.sqlite3"
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The current time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Store:
    """The storage of shared tasks and studies.

    >>> import tempfile
    >>> store = Store.open(Path(tempfile.mkdtemp()))
    >>> store.ready()
    >>> store.close()
    """

    data_dir: Path
    database: Database
    files: FileStore
    clock: Clock = utc_now

    @classmethod
    def open(
        cls,
        data_dir: str | Path | None = None,
        database_url: str | None = None,
        *,
        clock: Clock = utc_now,
    ) -> "Store":
        """Open a store, created on first use; the folder is `$EMOSCOPE_SERVER_DATA` or `emoscope-data` by default.

        The database is `database_url`, else `$EMOSCOPE_DATABASE_URL`, else SQLite in the folder. SQLite is migrated
        automatically; PostgreSQL, which others may be using, only by command.
        """
        named = Path(os.environ.get("EMOSCOPE_SERVER_DATA", "emoscope-data") if data_dir is None else data_dir)
        folder = named.absolute()  # scorers get its paths, and run in other folders
        try:
            # Private, because it contains names and e-mail addresses.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EmoscopeError(f"{folder}: cannot be used as a data folder ({error.strerror})") from None
        url = database_url or os.environ.get("EMOSCOPE_DATABASE_URL") or f"sqlite:///{folder / DATABASE_FILE}"
        database = Database(url)
        if database.is_sqlite:
            upgrade(database)
        else:
            require_current(database)
        return cls(folder, database, FileStore(folder / "files"), clock)

    def ready(self) -> None:
        """Raise StoreUnavailable unless the database answers."""
        with self.database.read() as session:
            session.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close the database."""
        self.database.close()
