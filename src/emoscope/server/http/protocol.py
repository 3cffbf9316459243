"""HTTP connections with a timeout for request headers and a maximum number.

At the maximum, the connection that has been idle for longest is closed for a new one, so that idle connections cannot
block other clients.
"""

import asyncio
import logging
from functools import cache
from typing import Any

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as _Protocol
except ImportError:  # no httptools on this system
    from uvicorn.protocols.http.h11_impl import H11Protocol as _Protocol  # type: ignore[assignment]

from emoscope.server.http.deadlines import RunningTimer
from emoscope.server.settings import Settings

_log = logging.getLogger("emoscope.server")
_REPORT_SECONDS = 5.0
_REQUEST_TIMEOUT = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/problem+json\r\nconnection: close\r\n"
    b'content-length: 113\r\n\r\n{"type":"urn:emoscope:problem:slow","title":"Too slow","status":408,'
    b'"detail":"the header did not arrive in time"}'
)


class _Guarded:
    """The state that the connections of a process share."""

    def __init__(self, header_seconds: float, most: int) -> None:
        self.header_seconds = header_seconds
        self.most = most
        self.waiting: dict[GuardedProtocol, None] = {}  # for a header, the longest first
        self._counts = {"slow": 0, "crowded": 0}

    def report(self, kind: str) -> None:
        """Count a closed connection; one line in the log, a little later, tells of many."""
        if not any(self._counts.values()):
            asyncio.get_running_loop().call_later(_REPORT_SECONDS, self._log_counts)
        self._counts[kind] += 1

    def _log_counts(self) -> None:
        slow, crowded = self._counts["slow"], self._counts["crowded"]
        self._counts = dict.fromkeys(self._counts, 0)
        _log.warning(
            "closed %d connections whose header did not come within %g s, and %d to make room (at most %d)",
            slow,
            self.header_seconds,
            crowded,
            self.most,
        )


@cache
def _guarded() -> _Guarded:
    settings = Settings.from_environment()
    return _Guarded(settings.header_seconds, connection_cap(settings.max_connections))


def connection_cap(wanted: int) -> int:
    """The number of connections wanted, or as many as the limit on open files allows.

    >>> connection_cap(100)
    100
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + 128
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < needed:
            cap = max(16, soft - min(128, soft // 2))
            _log.warning("only %d files may be open: at most %d connections; raise LimitNOFILE or ulimit -n", soft, cap)
            return cap
    return wanted


class GuardedProtocol(_Protocol):
    """A connection that is closed if a header does not arrive in time, or to make room for others."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._guard = _guarded()
        self._header_timer: RunningTimer | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        guard = self._guard
        if len(self.connections) > guard.most:
            guard.report("crowded")
            oldest = next(iter(guard.waiting), self)
            oldest._stop_waiting()
            oldest.transport.abort()  # close() would wait until the client has read everything
            if oldest is self:
                return
        self._await_header()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif not self.transport.is_closing():
            self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._guard.waiting[self] = None  # idle until the keep-alive ends, and may be closed to make room

    def timeout_keep_alive_handler(self) -> None:
        task = self.timeout_keep_alive_task
        if task is not None and self.loop.time() > task.when() + 1:
            # The process was stopped meanwhile; the client may be just about to send its next request.
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        else:
            super().timeout_keep_alive_handler()

    def _await_header(self) -> None:
        self._guard.waiting.setdefault(self)
        if self._header_timer is None:
            self._header_timer = RunningTimer(self._guard.header_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        self._guard.waiting.pop(self, None)
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _give_up(self) -> None:
        self._header_timer = None
        if self.cycle is not None and not self.cycle.response_complete:
            return
        self._stop_waiting()
        self._guard.report("slow")
        transport = self.transport
        if not transport.is_closing():
            transport.write(_REQUEST_TIMEOUT)
            transport.close()
            self.loop.call_later(1.0, transport.abort)  # if the client does not read the response
