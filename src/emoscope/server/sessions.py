"""Browser sessions: a signed cookie with the id of the token that was used to sign in, and a CSRF token for forms.

The cookie contains no credential and cannot be forged from a stolen database backup. Revoking the token ends every
session started with it; signing out ends the session itself.
"""

import hashlib
import hmac
import secrets
import time
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any

from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import delete
from starlette.requests import Request
from starlette.responses import Response

from emoscope.server.http.problems import Problem
from emoscope.server.http.security import is_cross_site
from emoscope.server.store import Store
from emoscope.server.store.models import EndedSession

LIFETIME_SECONDS = 12 * 3600
JOURNEY_SECONDS = 600


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser session; `token_id` is 0 before sign-in, `identity` that at an OpenID provider."""

    id: str
    token_id: int
    expires: int
    identity: list[Any] | None = None  # subject, address, name


class Sessions:
    """Creates and reads session cookies, and ends sessions; `name` is added to the cookie's name."""

    def __init__(self, store: Store, key: bytes, *, https: bool = False, name: str = "") -> None:
        self._store = store
        self._key = key
        self._https = https
        # Not the timed serializer: it refuses a cookie from a server whose clock is a moment ahead of ours.
        self._serializer = URLSafeSerializer(
            key, salt="emoscope.session", signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256}
        )
        # With this prefix browsers refuse such a cookie from a subdomain or over plain HTTP.
        self.cookie = f"{'__Host-' if https else ''}emoscope{name}"

    def current(self, request: Request) -> BrowserSession | None:
        """The session of a request, unless it has expired or was signed out of."""
        session = self.decoded(request.cookies.get(self.cookie, ""))
        if session is not None and (session.token_id or session.identity):
            with self._store.database.read() as rows:
                return session if rows.get(EndedSession, session.id) is None else None
        return session

    def end(self, session: BrowserSession) -> None:
        """End a session before its cookie expires, and forget ended sessions that have expired."""
        with self._store.database.write() as rows:
            rows.execute(delete(EndedSession).where(EndedSession.expires_at < self._store.clock()))
            rows.merge(EndedSession(id=session.id, expires_at=datetime.fromtimestamp(session.expires, UTC)))

    def begin(self, token_id: int = 0, identity: list[Any] | None = None) -> BrowserSession:
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

    def check_form(self, request: Request, session: BrowserSession, secret: str) -> None:
        """Refuse a form that is not from one of our pages in this session's browser."""
        own = self.form_secret(session).encode()
        if is_cross_site(request) or not hmac.compare_digest(secret.encode(errors="replace"), own):
            problem = "this form is out of date or came from another site; load the page again"
            raise Problem(403, "foreign-form", problem)

    def encoded(self, session: BrowserSession) -> str:
        """The cookie's value."""
        return str(self._serializer.dumps(astuple(session)))

    def decoded(self, value: str) -> BrowserSession | None:
        """The session of a cookie's value, if we signed it and it has not expired."""
        try:
            session = BrowserSession(*self._serializer.loads(value))
        except BadData:
            return None
        return session if session.expires > time.time() else None
