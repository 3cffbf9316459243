"""The outermost middleware: gives each request an id, checks its Host, and answers HEAD like GET without a body."""

import itertools
import logging
import re
import secrets
import time
from collections.abc import Iterable
from contextvars import ContextVar
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from emoscope.server.http.problems import Problem
from emoscope.server.settings import Settings

REQUEST_ID = b"x-request-id"
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
# Monitoring may use another host name than people do.
_ANY_HOST = frozenset({"/healthz", "/readyz", "/metrics"})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_SECRET = re.compile(r"\b([a-z]{3}_)[\w-]{8,}")  # of a mailed link, whose page asks for a click before it is used
_access = logging.getLogger("emoscope.access")


def allowed_hosts(settings: Settings) -> frozenset[str] | None:
    """The host names of the server: that of `public_url`, the configured ones and loopback; None if all are allowed.

    >>> sorted(allowed_hosts(Settings(public_url="https://emoscope.example.org")) - _LOOPBACK)
    ['emoscope.example.org']
    """
    named = [name.strip().lower() for name in settings.allowed_hosts.split(",") if name.strip()]
    if "*" in named or not (named or settings.public_url):
        return None
    return _LOOPBACK | {host_name(urlsplit(settings.public_url or "").netloc), *named} - {""}


def host_name(host: str) -> str:
    """A Host header without its port.

    >>> host_name("Example.org:8000"), host_name("[::1]:80")
    ('example.org', '[::1]')
    """
    return re.sub(r":\d*$", "", host).rstrip(".").lower()


class Front:
    """The outermost middleware of an application."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] | None = None) -> None:
        self._app = app
        self._hosts = None if hosts is None else frozenset(hosts)
        self._prefix = secrets.token_hex(5)
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host, given = b"", b""
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == REQUEST_ID:
                given = value
        own = given if given and _ID.fullmatch(given) else f"{self._prefix}-{next(self._numbers):x}".encode()
        request_id.set(own.decode())
        is_head = scope["method"] == "HEAD"
        logs = _access.isEnabledFor(logging.INFO)
        begun = time.perf_counter() if logs else 0.0
        status = 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (REQUEST_ID, own)]
            elif is_head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        if self._hosts is not None and not self._is_ours(host, scope["path"]):
            refused = Problem(400, "host", "the Host header is not a name of this server")
            await refused.response()(scope, receive, sent)
        else:
            await self._app({**scope, "method": "GET"} if is_head else scope, receive, sent)
        if logs:
            client = scope["client"][0] if scope.get("client") else "-"
            taken = (time.perf_counter() - begun) * 1000
            path = _SECRET.sub(r"\1...", scope["path"])
            _access.info("%s %s %s %d %.1f ms", client, scope["method"], path, status, taken)

    def _is_ours(self, host: bytes, path: str) -> bool:
        return path in _ANY_HOST or host_name(host.decode("latin-1")) in (self._hosts or ())
