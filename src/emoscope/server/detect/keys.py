"""API keys: a file in the data folder with their hashes and limits."""

import hashlib
import json
import os
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError

FILE = "api-keys.json"
PREFIX = "emk_"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key and its limits per minute; None means the limit of clients without a key, 0 unlimited."""

    name: str
    sha256: str
    dialogues_per_minute: int | None = None
    explanations_per_minute: int | None = None


class KeyFile:
    """The keys of a data folder; a running server notices changes within a second.

    >>> import tempfile
    >>> keys = KeyFile(Path(tempfile.mkdtemp()))
    >>> secret = keys.add("shop", dialogues_per_minute=600)
    >>> keys.find(secret).name, keys.find("emk_wrong")
    ('shop', None)
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE
        self._keys: dict[str, ApiKey] = {}
        self._version: object = None
        self._looked = -1.0

    def find(self, secret: str) -> ApiKey | None:
        """The key with this secret, if there is one."""
        if (now := time.monotonic()) > self._looked + 1:
            self._looked = now
            self.all()
        return self._keys.get(_hash(secret))

    def all(self) -> list[ApiKey]:
        """All keys, sorted by name."""
        try:
            found = self.path.stat()
            version = (found.st_mtime_ns, found.st_size, found.st_ino)
            if version != self._version:
                rows: list[dict[str, Any]] = json.loads(self.path.read_bytes())
                self._keys = {row["sha256"]: ApiKey(**row) for row in rows}
                self._version = version
        except FileNotFoundError:
            self._keys, self._version = {}, None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise EmoscopeError(f"{self.path}: is not a valid file of API keys ({error})") from None
        return sorted(self._keys.values(), key=lambda key: key.name)

    def add(self, name: str, **limits: int | None) -> str:
        """Create a key and return its secret; only the hash is stored."""
        keys = self.all()
        if any(key.name == name for key in keys):
            raise EmoscopeError(f"{name}: already has a key; revoke it first, or choose another name")
        secret = PREFIX + secrets.token_urlsafe(24)
        self._write([*keys, ApiKey(name, _hash(secret), **limits)])
        return secret

    def revoke(self, name: str) -> None:
        """Revoke a key."""
        keys = self.all()
        if all(key.name != name for key in keys):
            raise EmoscopeError(
                f"{name}: there is no such key; there are: {', '.join(key.name for key in keys) or '-'}"
            )
        self._write([key for key in keys if key.name != name])

    def _write(self, keys: list[ApiKey]) -> None:
        part = self.path.with_name(f".{FILE}.{secrets.token_hex(8)}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
                json.dump([asdict(key) for key in keys], handle, indent=1)
                handle.flush()
                os.fsync(handle.fileno())
            if self.path.exists() and hasattr(os, "chown"):  # written by root, read by the server's user
                owner = self.path.parent.stat()
                os.chown(part, owner.st_uid, owner.st_gid)
            part.replace(self.path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise EmoscopeError(f"{self.path}: cannot be written ({error.strerror})") from None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
