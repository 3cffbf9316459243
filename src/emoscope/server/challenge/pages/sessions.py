"""Signing in with a token: a signed cookie that names the token's id, and a secret that forms must carry.

The cookie holds no credential: nobody can forge one from a stolen backup of the database, and revoking the token ends
every session that was started with it, and signing out the session itself.
"""

import hashlib
import hmac
import secrets
import time
from dataclasses import astuple, dataclass, replace

from itsdangerous import BadData, URLSafeSerializer
from starlette.responses import Response

LIFETIME_SECONDS = 12 * 3600
JOURNEY_SECONDS = 600


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser's visit; `token_id` is 0 for somebody who has not signed in."""

    id: str
    token_id: int
    expires: int
    identity: tuple[str, str | None, str] | None = None  # by an OpenID provider: subject, address, name


class Sessions:
    """Creates and reads session cookies.

    >>> sessions = Sessions(b"k" * 32)
    >>> session = sessions.begin(7)
    >>> sessions.decoded(sessions.encoded(session)) == session
    True
    """

    def __init__(self, key: bytes, *, https: bool = False) -> None:
        self._key = key
        self._https = https
        # Not the timed serializer: it refuses a cookie from a server whose clock is a moment ahead of ours.
        self._serializer = URLSafeSerializer(
            key, salt="emoscope.session", signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256}
        )
        # With this prefix browsers refuse such a cookie from a subdomain or over plain HTTP.
        self.cookie = "__Host-emoscope" if https else "emoscope"

    def begin(self, token_id: int = 0, identity: tuple[str, str | None, str] | None = None) -> BrowserSession:
        """A new session with a new id, so that a cookie planted earlier is worthless."""
        return BrowserSession(secrets.token_urlsafe(24), token_id, int(time.time()) + LIFETIME_SECONDS, identity)

    def sealed(self, values: tuple[str, ...]) -> str:
        """Values that a browser keeps for us for a while, such as on the way to an OpenID provider."""
        return str(self._serializer.dumps([*values, int(time.time()) + JOURNEY_SECONDS], salt="emoscope.journey"))

    def opened(self, text: str) -> tuple[str, ...] | None:
        """What was sealed, if we did it not long ago."""
        try:
            *values, expires = self._serializer.loads(text, salt="emoscope.journey")
        except BadData:
            return None
        return tuple(values) if expires > time.time() else None

    def write(self, response: Response, session: BrowserSession) -> None:
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

    def form_secret(self, session: BrowserSession) -> str:
        """What a form of this session must carry, and no other site can know."""
        return hmac.new(self._key, f"form:{session.id}:{session.token_id}".encode(), hashlib.sha256).hexdigest()

    def encoded(self, session: BrowserSession) -> str:
        """The cookie's value."""
        return str(self._serializer.dumps(astuple(session)))

    def decoded(self, value: str) -> BrowserSession | None:
        """The session of a cookie's value, if we signed it and it has not expired."""
        try:
            session = BrowserSession(*self._serializer.loads(value))
        except BadData:
            return None
        if session.identity is not None:
            subject, email, name = session.identity  # a list, as JSON has it
            session = replace(session, identity=(subject, email, name))
        return session if session.expires > time.time() else None
