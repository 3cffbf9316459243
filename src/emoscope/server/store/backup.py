"""Backing up a store while it is in use, to a folder that can be served as it is."""

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from emoscope.core.errors import EmoscopeError
from emoscope.server.store.signing_key import KEY_FILE
from emoscope.server.store.store import DATABASE_FILE, Store


def backup(store: Store, target: str | Path) -> Path:
    """Copy a store to a new folder, whole or not at all.

    The database goes first: a file is on the disk before a row refers to it, so every file that the copied rows need
    is there when the files are copied. With PostgreSQL only the files are copied; `pg_dump` must run before.
    The copy holds the gold files and the key that signs links and sessions, and is as confidential as the store.
    """
    target = Path(target)
    if target.exists():
        raise EmoscopeError(f"{target}: is there already; a backup goes to a new folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise EmoscopeError(f"{target}: cannot be written ({error.strerror})") from None
    try:
        if store.database.is_sqlite:
            _copy(str(store.database.url.database), part / DATABASE_FILE)
        for name in (KEY_FILE, "api-keys.json"):  # without the first every annotator's link would change
            if (store.data_dir / name).exists():
                shutil.copy2(store.data_dir / name, part / name)
        shutil.copytree(store.files.root, part / "files", ignore=shutil.ignore_patterns("*.part"))
        part.rename(target)
    except (OSError, shutil.Error) as error:
        raise EmoscopeError(f"{target}: the backup failed ({error})") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target


def _copy(database: str, target: Path) -> None:
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        verdict = copy.execute("PRAGMA integrity_check").fetchone()[0]
    if verdict != "ok":
        raise EmoscopeError(f"{target.name}: the copied database is damaged ({verdict})")
