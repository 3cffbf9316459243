"""Deadlines that count while the process runs.

The clock goes on while a process is stopped or its machine is suspended. Deadlines are therefore counted in steps, and
a pause, however long, takes up only one of them.
"""

import asyncio
from collections.abc import Callable

from starlette.types import Message, Receive

_STEPS = 10


class RunningTimer:
    """Calls `expired` after so many seconds, unless it is cancelled."""

    __slots__ = ("_expired", "_handle", "_left", "_loop", "_step")

    def __init__(self, seconds: float, expired: Callable[[], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self._expired = expired
        self._step = seconds / _STEPS
        self._left = _STEPS
        self._handle = self._loop.call_later(self._step, self._next)

    def cancel(self) -> None:
        """Do not call `expired`."""
        self._handle.cancel()

    def _next(self) -> None:
        self._left -= 1
        if self._left:
            self._handle = self._loop.call_later(self._step, self._next)
        else:
            self._expired()


class ReceiveBudget:
    """The seconds a client may take to send a body, and for each part of it at most as many as at the start."""

    __slots__ = ("_most", "seconds")

    def __init__(self, seconds: float) -> None:
        self._most = self.seconds = seconds

    async def receive(self, receive: Receive) -> Message:
        """The next part of the body; TimeoutError if it does not arrive in time. `receive` may be cancelled."""
        loop = asyncio.get_running_loop()
        left = min(self.seconds, self._most)
        step = left / _STEPS
        for _ in range(_STEPS):
            begun = loop.time()
            try:
                async with asyncio.timeout(step):
                    return await receive()
            except TimeoutError:
                continue
            finally:
                self.seconds -= min(step, loop.time() - begun)
        raise TimeoutError
