"""Cross-platform locks on open files, which the operating system releases when the process ends."""

from typing import IO, Any


def try_lock(handle: IO[Any]) -> bool:
    """Lock an open file for this process; False if another process holds it.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as handle:
    ...     try_lock(handle)
    True
    """
    try:
        import fcntl
    except ImportError:  # Windows locks bytes: take one far beyond the content
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
