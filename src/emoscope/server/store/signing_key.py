"""The key of a data folder, which signs sessions and annotators' links."""

import os
import secrets
from pathlib import Path

from emoscope.core.errors import EmoscopeError

KEY_FILE = "session.key"


def load_key(data_dir: Path) -> bytes:
    """The folder's key, created on first use; server processes that share the folder share it."""
    path = data_dir / KEY_FILE
    try:
        if not path.exists():
            part = data_dir / f".{KEY_FILE}.{secrets.token_hex(8)}"
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(secrets.token_bytes(32))
                handle.flush()
                os.fsync(handle.fileno())
            try:
                os.link(part, path)  # unlike a rename, this never replaces another process's key
            except FileExistsError:
                pass
            finally:
                part.unlink()
        key = path.read_bytes()
    except OSError as error:
        raise EmoscopeError(f"{path}: the session key cannot be stored here ({error.strerror})") from None
    if len(key) != 32:
        raise EmoscopeError(f"{path}: is not a session key; remove it to get a new one")
    return key
