"""A lock that allows one run at a time in an output folder, and does not outlive a killed run.

In a local folder the operating system holds the lock and releases it however the run ends. In an object store the lock
is a file that the run renews: if it was not renewed for a while, or its process on this machine is gone, it is stale
and is taken over.
"""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from emoscope.core.errors import EmoscopeError
from emoscope.core.file_lock import try_lock

LOCK = ".lock"
RENEW_SECONDS = 20.0
STALE_SECONDS = 180.0  # clocks may differ by a minute, and a store may be slow
_SETTLE_SECONDS = 0.5  # in which another run that takes over the same stale lock shows up


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a local folder; it is created if needed, and removed again if nothing was written.

    >>> import tempfile
    >>> with lock_folder(Path(tempfile.mkdtemp())):
    ...     pass
    """
    if folder.is_file():
        raise EmoscopeError(f"{folder}: is a file, expected a folder to write into")
    try:
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        handle = _locked_file(folder)
    except OSError as error:
        raise EmoscopeError(f"{folder}: cannot write here ({error.strerror or error})") from None
    try:
        handle.write(json.dumps(_owner()))
        handle.flush()
        yield
    finally:
        if os.name == "nt":  # Windows cannot remove an open file
            handle.close()
        with suppress(PermissionError):
            (folder / LOCK).unlink(missing_ok=True)
        handle.close()
        if new:
            with suppress(OSError):  # not empty
                folder.rmdir()


def _locked_file(folder: Path) -> IO[str]:
    path = folder / LOCK
    while True:
        handle = path.open("a+", encoding="utf-8")
        if not try_lock(handle):
            handle.seek(0)
            owner = _parsed(handle.read())
            handle.close()
            raise _held(str(folder), owner)
        # A run that just ended may have removed the file we opened; then others do not see our lock.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle.fileno()), path.stat()):
                handle.truncate(0)
                return handle
        handle.close()


@contextmanager
def lock_address(system: Any, folder: str, shown: str) -> Iterator[None]:
    """Lock a folder of a remote fsspec file system."""
    path, token = f"{folder.rstrip('/')}/{LOCK}", uuid4().hex
    owner = _read(system, path)
    if owner is not None:
        if not _is_stale(owner):
            raise _held(shown, owner)
        with suppress(OSError):
            system.rm_file(path)
    try:
        _write(system, path, token, mode="create")
    except (OSError, ValueError):  # another run was first
        raise _held(shown, _read(system, path) or {}) from None
    if owner is not None:
        time.sleep(_SETTLE_SECONDS)
    if (current := _read(system, path) or {}).get("token") != token:
        raise _held(shown, current)
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(RENEW_SECONDS):
            with suppress(Exception):  # the store may be unreachable for a moment
                _write(system, path, token)

    thread = threading.Thread(target=renew, name="emoscope-lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(Exception):
            if (_read(system, path) or {}).get("token") == token:
                system.rm_file(path)


def _owner() -> dict[str, Any]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "time": time.time()}


def _write(system: Any, path: str, token: str, **options: Any) -> None:
    system.pipe_file(path, json.dumps({**_owner(), "token": token}).encode(), **options)


def _read(system: Any, path: str) -> dict[str, Any] | None:
    system.invalidate_cache()
    try:
        return _parsed(system.cat_file(path))
    except FileNotFoundError:
        return None


def _parsed(text: str | bytes) -> dict[str, Any]:
    with suppress(ValueError):
        if isinstance(content := json.loads(text), dict):
            return content
    return {}


def _is_stale(owner: dict[str, Any]) -> bool:
    if time.time() - float(owner.get("time", 0)) > STALE_SECONDS:
        return True
    if owner.get("host") != socket.gethostname():
        return False
    try:
        os.kill(int(owner["pid"]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, KeyError, ValueError):
        pass
    return False


def _held(folder: str, owner: dict[str, Any]) -> EmoscopeError:
    who = f" (process {owner['pid']} on {owner['host']})" if {"pid", "host"} <= owner.keys() else ""
    return EmoscopeError(f"{folder}: another run is writing here{who}; wait for it, or choose another folder")
