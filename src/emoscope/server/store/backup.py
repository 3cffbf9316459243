"""Backs up a store in use to a folder that can be served."""

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

    The database is copied first: files are written before rows refer to them, so all files that the copied rows need
    exist by then. With PostgreSQL only the files are copied; run `pg_dump` before. The copy contains gold files and
    the key that signs links and sessions, and is as confidential as the store.
    """
    target = Path(target)
    if target.exists():
        raise EmoscopeError(f"{target}: already exists; choose a new folder for the backup")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise EmoscopeError(f"{target}: cannot be written ({error.strerror})") from None
    try:
        if store.database.is_sqlite:
            _copy(str(store.database.url.database), part / DATABASE_FILE)
        for name in (KEY_FILE, "api-keys.json"):  # without the first, annotators' links would become invalid
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
