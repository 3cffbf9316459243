"""Security headers, and the check for cross-site requests."""

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

# Scripts and styles come from our own files only: no inline code, no other host, no framing.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

_ALWAYS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=()"),
)
_HTTPS = ((b"strict-transport-security", b"max-age=31536000"),)


class SecurityHeaders:
    """Adds the security headers to every response."""

    def __init__(self, app: ASGIApp, *, https: bool = False) -> None:
        self._app = app
        self._headers = (*_ALWAYS, *(_HTTPS if https else ()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                # Caches must not keep pages of signed-in users.
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                # A response may set its own, such as a badge, which other sites embed.
                said = {name.lower() for name, _ in headers}
                message["headers"] = [*headers, *(header for header in self._headers if header[0] not in said)]
            await send(message)

        await self._app(scope, receive, with_headers)


def is_cross_site(request: Request) -> bool:
    """Whether, according to the browser, another site sent the request."""
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return True
    origin = request.headers.get("origin")
    if origin is None:
        return False
    public = urlsplit(request.app.state.settings.public_url or "")
    given = urlsplit(origin.lower())
    if public.netloc:
        return (given.scheme, given.netloc) != (public.scheme.lower(), public.netloc.lower())
    return given.netloc != request.headers.get("host", "").lower()
