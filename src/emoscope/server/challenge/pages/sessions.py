"""Browser sessions: a signed cookie with the id of the token that was used to sign in, and a CSRF token for forms.

The cookie contains no credential and cannot be forged from a stolen database backup. Revoking the token ends every
session started with it; signing out ends the session itself.
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
    """A browser session; `token_id` is 0 before sign-in."""

    id: str
    token_id: int
    expires: int
    identity: tuple[str, str | None, str] | None = None  # at an OpenID provider: subject, address, name


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
        """A new session with a new id, so that a cookie planted earlier does not work."""
        return BrowserSession(secrets.token_urlsafe(24), token_id, int(time.time()) + LIFETIME_SECONDS, identity)

    def sealed(self, values: tuple[str, ...]) -> str:
        """Sign values that the browser keeps for a few minutes, such as during sign-in with an OpenID provider."""
        return str(self._serializer.dumps([*values, int(time.time()) + JOURNEY_SECONDS], salt="emoscope.journey"))

    def opened(self, text: str) -> tuple[str, ...] | None:
        """The sealed values, if our signature is valid and has not expired."""
        try:
            *values, expires = self._serializer.loads(text, salt="emoscope.journey")
        except BadData:
            return None
        return tuple(values) if expires > time.time() else None

    def write(self, response: Response, session: BrowserSession) -> None:
        """Set the session cookie."""
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
        """The CSRF token of the session's forms."""
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
