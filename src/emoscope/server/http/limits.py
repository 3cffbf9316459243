"""Limits the size and the time of request bodies while they arrive."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from emoscope.server.http.deadlines import ReceiveBudget
from emoscope.server.http.problems import Problem

Refuse = Callable[[Scope], Awaitable[Problem | None]]


class BodyLimit:
    """Limits the body of a request; `limit_of` returns the most bytes for a path.

    `refuse` may return a problem, which is then the response, before the body is read.
    """

    def __init__(
        self, app: ASGIApp, *, limit_of: Callable[[str], int], receive_seconds: float, refuse: Refuse | None = None
    ) -> None:
        self._refuse = refuse
        self._app = app
        self._limit_of = limit_of
        self._receive_seconds = receive_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        limit = self._limit_of(scope["path"])
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > limit:
            await _too_large(limit).response()(scope, receive, send)
            return
        if self._refuse is not None and (problem := await self._refuse(scope)) is not None:
            await problem.response()(scope, receive, send)
            return
        received = 0
        complete = False
        budget = ReceiveBudget(self._receive_seconds)

        async def counted() -> MutableMapping[str, Any]:
            nonlocal received, complete
            if complete:
                return await receive()
            try:
                message = await budget.receive(receive)
            except TimeoutError:
                # An HTTPException, because the framework takes any other error here for a body it cannot parse.
                raise HTTPException(408, too_slow().detail) from None
            if message["type"] == "http.request":
                size = len(message.get("body", b""))
                received += size
                budget.seconds += size / 1024  # a body may not trickle: each kibibyte earns one second more
                complete = not message.get("more_body", False)
                if received > limit:
                    raise HTTPException(413, _too_large(limit).detail, headers={"Connection": "close"})
            return message

        await self._app(scope, counted, send)


def too_slow() -> Problem:
    """The problem of a body that arrives too slowly."""
    return Problem(408, "http", "the body did not arrive in time", headers={"Connection": "close"})


def _too_large(limit: int) -> Problem:
    # The rest of the body will not be read, so the connection cannot be used again.
    return Problem(413, "too-large", f"the body is larger than {limit:,} bytes", headers={"Connection": "close"})
