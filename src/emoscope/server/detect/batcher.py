"""Dynamic batching: requests that wait together are run together.

One thread feeds the model. It takes whatever is waiting as soon as it is free, so a lone request is never held back,
and under load the batches grow by themselves. A large request is split into batches and goes to the back of the queue
after each, so that small ones pass.
"""

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

from emoscope.server.http.metrics import Metrics
from emoscope.server.http.problems import Problem

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Result = TypeVar("Result")
_log = logging.getLogger("emoscope.server")


@dataclass(frozen=True, slots=True)
class BatchResult(Generic[Result]):
    """The results of a request, how long it waited, and how long the model took (both in seconds)."""

    results: list[Result]
    queued: float
    inferred: float


@dataclass(slots=True, eq=False)
class _Job(Generic[Key, Item, Result]):
    key: Key
    items: Sequence[Item]
    future: "asyncio.Future[BatchResult[Result]]"
    accepted: float
    begun: float | None = None
    taken: int = 0
    results: list[Result] = field(default_factory=list)


class Batcher(Generic[Key, Item, Result]):
    """A bounded queue before one worker thread.

    `run(key, items)` gives a result for each item; only items of the same key are run together. `size` is the number of
    items in a batch, `capacity` that of items that may wait, `deadline` the seconds a request may take in all.
    """

    def __init__(
        self,
        run: Callable[[Key, list[Item]], list[Result]],
        *,
        lane: str,
        size: int,
        capacity: int,
        deadline: float,
        metrics: Metrics,
    ) -> None:
        self._run = run
        self._lane = lane
        self._size = size
        self._capacity = capacity
        self._deadline = deadline
        self._accepted = metrics.accepted.labels(lane)
        self._refused = metrics.refused
        self._queue_seconds = metrics.queue_seconds.labels(lane)
        self._inference_seconds = metrics.inference_seconds.labels(lane)
        self._waiting_now = metrics.waiting.labels(lane)
        self._batch_sizes = metrics.batch_dialogues
        self._jobs: deque[_Job[Key, Item, Result]] = deque()
        self.waiting = 0  # items in the queue
        self._seconds_per_item = 0.0
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=f"emoscope-{lane}", daemon=True)
        self._thread.start()

    async def submit(self, key: Key, items: Sequence[Item]) -> BatchResult[Result]:
        """Run the items; refuses at once when too many wait, and gives up at the deadline."""
        future: asyncio.Future[BatchResult[Result]] = asyncio.get_running_loop().create_future()
        job = _Job(key, items, future, time.perf_counter())
        with self._changed:
            if self._closed:
                raise self._refusal("closing", 503, "the server is shutting down", seconds=1)
            if self.waiting + len(items) > self._capacity:
                raise self._refusal("full", 429, "too much is waiting already; try again later", seconds=self._wait())
            self.waiting += len(items)
            self._jobs.append(job)
            self._changed.notify()
        self._accepted.inc()
        try:
            async with asyncio.timeout(self._deadline):
                answer = await job.future
        except TimeoutError:
            detail = f"no answer within {self._deadline:g} seconds: the server is busy"
            raise self._refusal("deadline", 503, detail, seconds=self._wait()) from None
        self._queue_seconds.observe(answer.queued)
        self._inference_seconds.observe(answer.inferred)
        return answer

    def close(self) -> None:
        """Finish what was accepted, and accept nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _wait(self) -> int:
        """Estimated seconds until the queue is empty."""
        return min(60, max(1, math.ceil(self.waiting * self._seconds_per_item)))

    def _refusal(self, reason: str, status: int, detail: str, *, seconds: int) -> Problem:
        self._refused.labels(self._lane, reason).inc()
        return Problem(status, reason, detail, headers={"Retry-After": str(seconds)})

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._jobs and not self._closed:
                    self._changed.wait()
                if not self._jobs:
                    return
                taken = self._take()
                self._waiting_now.set(self.waiting)
            if taken:
                self._answer(taken)

    def _take(self) -> list[tuple[_Job[Key, Item, Result], list[Item]]]:
        """The next batch, oldest first; requests that gave up are dropped."""
        taken = []
        room = self._size
        while self._jobs and room:
            job = self._jobs.popleft()
            if job.future.done():
                self.waiting -= len(job.items) - job.taken
                continue
            share = list(job.items[job.taken : job.taken + room])
            job.taken += len(share)
            room -= len(share)
            self.waiting -= len(share)
            taken.append((job, share))
            if job.taken < len(job.items):
                self._jobs.append(job)
        return taken

    def _answer(self, taken: list[tuple[_Job[Key, Item, Result], list[Item]]]) -> None:
        begun = time.perf_counter()
        groups: dict[Key, list[tuple[_Job[Key, Item, Result], list[Item]]]] = {}
        for job, share in taken:
            if job.begun is None:
                job.begun = begun
            groups.setdefault(job.key, []).append((job, share))
        done = [one for key, members in groups.items() for one in self._results(key, members)]
        _deliver(done)
        items = sum(len(share) for _, share in taken)
        self._batch_sizes.observe(items)
        # A moving average, so that Retry-After follows the model's current speed.
        pace = (time.perf_counter() - begun) / max(items, 1)
        self._seconds_per_item = pace if not self._seconds_per_item else 0.8 * self._seconds_per_item + 0.2 * pace

    def _results(self, key: Key, members: list[tuple[_Job[Key, Item, Result], list[Item]]]) -> "list[_Done]":
        """The requests of one key that are complete now, each with its result or error."""
        try:
            results = iter(self._run(key, [item for _, share in members for item in share]))
        except Exception as error:
            if len(members) > 1:  # one request's fault must not become its neighbours'
                return [one for member in members for one in self._results(key, [member])]
            return [(members[0][0], error)]
        done: list[_Done] = []
        for job, share in members:
            job.results += islice(results, len(share))
            if len(job.results) == len(job.items):
                now = time.perf_counter()
                began = job.begun or now
                done.append((job, BatchResult(job.results, began - job.accepted, now - began)))
        return done


_Done = tuple[_Job[Any, Any, Any], BatchResult[Any] | Exception]


def _deliver(done: list[_Done]) -> None:
    """Hand results to the waiting requests; each event loop is woken only once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Done]] = {}
    for job, outcome in done:
        by_loop.setdefault(job.future.get_loop(), []).append((job, outcome))
    for loop, theirs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, theirs)
        except RuntimeError:  # the loop has ended: nobody is left to tell
            _log.warning("%d answers came after the server had stopped", len(theirs))


def _settle(done: list[_Done]) -> None:
    for job, outcome in done:
        if job.future.done():
            continue
        if isinstance(outcome, Exception):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
