"""Locks on open files that the operating system frees however a process ends, on every system."""

from typing import IO, Any


def try_lock(handle: IO[Any]) -> bool:
    """Whether this process, and no other, now holds the file.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as handle:
    ...     try_lock(handle)
    True
    """
    try:
        import fcntl
    except ImportError:  # Windows: a byte that nobody writes stands for the file
        import msvcrt

        place = handle.tell()
        handle.seek(1 << 30)
        try:
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        finally:
            handle.seek(place)
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
