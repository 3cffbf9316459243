"""Signing in with a token: a signed cookie that names the token's id, and a secret that forms must carry.

The cookie holds no credential: whoever steals a backup of the database cannot make one, and revoking the token ends
every session that was begun with it.
"""

import hashlib
import hmac
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from emoscope.core.errors import EmoscopeError

KEY_FILE = "session.key"
LIFETIME_SECONDS = 12 * 3600


@dataclass(frozen=True, slots=True)
class Session:
    """A browser's visit; `token_id` is 0 for somebody who has not signed in."""

    id: str
    token_id: int
    expires: int


class Sessions:
    """Makes and reads session cookies.

    >>> sessions = Sessions(b"k" * 32)
    >>> visit = sessions.begin(7)
    >>> sessions.decoded(sessions.encoded(visit)) == visit
    True
    """

    def __init__(self, key: bytes, *, https: bool = False) -> None:
        self._key = key
        self._https = https
        # The prefix makes browsers refuse such a cookie from a subdomain or over plain HTTP.
        self.cookie = "__Host-emoscope" if https else "emoscope"

    def begin(self, token_id: int = 0) -> Session:
        """A new session with a new id: whatever cookie the browser had before is worth nothing from now on."""
        return Session(secrets.token_urlsafe(24), token_id, int(time.time()) + LIFETIME_SECONDS)

    def read(self, request: Request) -> Session | None:
        """The session of a request, if it has a valid one."""
        return self.decoded(request.cookies.get(self.cookie, ""))

    def write(self, response: Response, session: Session) -> None:
        """Give the browser its session."""
        response.set_cookie(
            self.cookie,
            self.encoded(session),
            max_age=LIFETIME_SECONDS,
            path="/",
            secure=self._https,
            httponly=True,
            samesite="lax",
        )

    def form_secret(self, session: Session) -> str:
        """What a form of this session must carry, and no other site can know."""
        return self._signature(f"form:{session.id}:{session.token_id}")

    def encoded(self, session: Session) -> str:
        """The cookie's value."""
        content = f"{session.id}.{session.token_id}.{session.expires}"
        return f"{content}.{self._signature(content)}"

    def decoded(self, value: str) -> Session | None:
        """The session a cookie's value stands for, if we signed it and it has not expired."""
        content, _, signature = value.rpartition(".")
        if not content or not hmac.compare_digest(signature.encode(), self._signature(content).encode()):
            return None
        try:
            id, token_id, expires = content.split(".")
            session = Session(id, int(token_id), int(expires))
        except ValueError:
            return None
        return session if session.expires > time.time() else None

    def _signature(self, text: str) -> str:
        return hmac.new(self._key, text.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


def load_key(data_dir: Path) -> bytes:
    """The key that signs cookies, made on first use; server processes that share the folder share it."""
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
                os.link(part, path)  # unlike a rename, this never replaces the key of a process that was faster
            except FileExistsError:
                pass
            finally:
                part.unlink()
        key = path.read_bytes()
    except OSError as error:
        raise EmoscopeError(f"{path}: the session key cannot be kept here ({error.strerror})") from None
    if len(key) != 32:
        raise EmoscopeError(f"{path}: is not a session key; remove it to have a new one made")
    return key
