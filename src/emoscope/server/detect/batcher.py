"""Dynamic batching: requests that wait at the same time are run together.

One thread runs the model. As soon as it is free it takes what is waiting, so a single request is not delayed, and
batches grow under load. Small requests go first, and leave a quarter of a batch to large ones. Clients take turns. So a
single question is in the next batch, however many large requests are waiting, even of the same client.
"""

import asyncio
import logging
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from emoscope.server.http.deadlines import RunningTimer
from emoscope.server.http.metrics import Metrics
from emoscope.server.http.problems import Problem

_CROWD = 8  # requests in a batch that is followed by a wait for more
Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Result = TypeVar("Result")
_log = logging.getLogger("emoscope.server")


@dataclass(frozen=True, slots=True)
class BatchResult(Generic[Result]):
    """The results of a request, and its seconds in the queue and in the model."""

    results: list[Result]
    queued: float
    inferred: float

    @property
    def timing(self) -> str:
        """The value of the Server-Timing header."""
        return f"queue;dur={self.queued * 1000:.3f}, inference;dur={self.inferred * 1000:.3f}"


@dataclass(slots=True, eq=False)
class _Job(Generic[Key, Item, Result]):
    key: Key
    items: Sequence[Item]
    client: Hashable
    future: "asyncio.Future[BatchResult[Result]]"
    accepted: float
    begun: float | None = None
    taken: int = 0
    results: list[Result] = field(default_factory=list)


class _Line(Generic[Key, Item, Result]):
    """A queue in which clients take turns, each with its requests in order."""

    def __init__(self) -> None:
        self._queues: OrderedDict[Hashable, deque[_Job[Key, Item, Result]]] = OrderedDict()

    def __len__(self) -> int:
        """The number of waiting clients."""
        return len(self._queues)

    def add(self, job: _Job[Key, Item, Result]) -> None:
        self._queues.setdefault(job.client, deque()).append(job)

    def pop(self) -> _Job[Key, Item, Result]:
        """The oldest request of the next client, who then goes to the end of the queue."""
        client, jobs = next(iter(self._queues.items()))
        job = jobs.popleft()
        if jobs:
            self._queues.move_to_end(client)
        else:
            del self._queues[client]
        return job

    def put_back(self, job: _Job[Key, Item, Result]) -> None:
        """Return a request that is not finished to the front of its client's queue."""
        self._queues.setdefault(job.client, deque()).appendleft(job)


class Batcher(Generic[Key, Item, Result]):
    """A bounded queue in front of one worker thread.

    `run(key, items)` returns a result for each item; only items with the same key are run together. `size` is the most
    items in a batch, `capacity` the most items that may wait, `deadline` the seconds a request may take in all. Small
    requests may exceed the capacity by an eighth, so that large ones cannot block them.
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
        self._small_size = max(1, size // 8)
        self._small: _Line[Key, Item, Result] = _Line()
        self._large: _Line[Key, Item, Result] = _Line()
        self.waiting = 0  # items in the queue
        self._wanted = 1  # waiting items that start the next batch,
        self._patience = 0.0  # or the seconds after which it starts anyway
        self._seconds_per_item = 0.0
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=f"emoscope-{lane}", daemon=True)
        self._thread.start()

    async def submit(self, key: Key, items: Sequence[Item], client: Hashable = None) -> BatchResult[Result]:
        """Run the items; a Problem if too many are waiting, or at the deadline."""
        future: asyncio.Future[BatchResult[Result]] = asyncio.get_running_loop().create_future()
        job = _Job(key, items, client, future, time.perf_counter())
        small = len(items) <= self._small_size
        with self._changed:
            if self._closed:
                raise self._refusal("closing", 503, "the server is shutting down", seconds=1)
            # Do not accept what could not be finished in time.
            late = self.waiting * self._seconds_per_item > self._deadline and not small
            if late or self.waiting + len(items) > self._capacity + (self._capacity // 8 if small else 0):
                raise self._refusal("full", 429, "the queue is full; try again later", seconds=self._wait())
            was_empty = not (self._small or self._large)
            self.waiting += len(items)
            (self._small if small else self._large).add(job)
            if was_empty or self.waiting >= self._wanted:
                self._changed.notify()
        self._accepted.inc()
        timer = RunningTimer(self._deadline, partial(_expire, future))  # a third of what asyncio.timeout costs
        try:
            answer = await future
        except TimeoutError:
            detail = f"no answer within {self._deadline:g} seconds: the server is busy"
            raise self._refusal("deadline", 503, detail, seconds=self._wait()) from None
        finally:
            timer.cancel()
        self._queue_seconds.observe(answer.queued)
        self._inference_seconds.observe(answer.inferred)
        return answer

    def refuse_if_full(self) -> None:
        """Raise the Problem that `submit` would for a large request."""
        if self.waiting >= self._capacity * 7 // 8:
            raise self._refusal("full", 429, "the queue is full; try again later", seconds=self._wait())

    def close(self) -> None:
        """Finish all accepted requests; no more are accepted."""
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
                while not (self._small or self._large or self._closed):
                    self._changed.wait()
                if not (self._small or self._large):
                    return
                if self._patience:
                    self._changed.wait_for(lambda: self.waiting >= self._wanted or self._closed, self._patience)
                taken = self._take()
                self._waiting_now.set(self.waiting)
            if taken:
                self._answer(taken)
                self._plan_wait(len(taken), sum(len(share) for _, share in taken))

    def _plan_wait(self, requests: int, items: int) -> None:
        """After a batch of many requests, wait for the clients' next requests before the next batch.

        So the same clients share one batch instead of two alternating halves, and none waits for two batches. The wait
        is at most a fifth of the batch's time; with few requests there is none.
        """
        crowd = requests >= _CROWD
        self._wanted = min(self._size, items + self.waiting) if crowd else 1
        self._patience = items * self._seconds_per_item / 5 if crowd else 0.0

    def _take(self) -> list[tuple[_Job[Key, Item, Result], list[Item]]]:
        """The next batch, without requests that have timed out."""
        taken: dict[_Job[Key, Item, Result], list[Item]] = {}
        left = self._fill(taken, self._small, self._size - (self._size // 4 if self._large else 0), self._size)
        room = self._size - sum(map(len, taken.values()))
        room = self._fill(taken, self._large, room, max(1, room // max(1, len(self._large))))
        if room and left == 0:  # the large requests did not need their whole share
            self._fill(taken, self._small, room, self._size)
        return list(taken.items())

    def _fill(
        self, taken: dict[_Job[Key, Item, Result], list[Item]], line: _Line[Key, Item, Result], room: int, turn: int
    ) -> int:
        """Move items from a queue to the batch, at most `turn` per client and turn; returns the room left."""
        while line and room:
            job = line.pop()
            if job.future.done():
                self.waiting -= len(job.items) - job.taken
                continue
            share = job.items[job.taken : job.taken + min(room, turn)]
            job.taken += len(share)
            room -= len(share)
            self.waiting -= len(share)
            taken.setdefault(job, []).extend(share)
            if job.taken < len(job.items):
                line.put_back(job)
        return room

    def _answer(self, taken: list[tuple[_Job[Key, Item, Result], list[Item]]]) -> None:
        begun = time.perf_counter()
        groups: dict[Key, list[tuple[_Job[Key, Item, Result], list[Item]]]] = {}
        for job, share in taken:
            if job.begun is None:
                job.begun = begun
            groups.setdefault(job.key, []).append((job, share))
        done = [outcome for key, members in groups.items() for outcome in self._results(key, members)]
        _deliver(done)
        items = sum(len(share) for _, share in taken)
        self._batch_sizes.observe(items)
        # A moving average, so that Retry-After follows the model's current speed; one pause does not spoil it.
        pace, average = (time.perf_counter() - begun) / max(items, 1), self._seconds_per_item
        self._seconds_per_item = 0.8 * average + 0.2 * min(pace, 4 * average) if average else pace

    def _results(self, key: Key, members: list[tuple[_Job[Key, Item, Result], list[Item]]]) -> "list[_Done]":
        """The requests that are now complete, with their results or errors."""
        try:
            results = iter(self._run(key, [item for _, share in members for item in share]))
        except Exception as error:
            if len(members) > 1:  # one request must not fail the others
                return [outcome for member in members for outcome in self._results(key, [member])]
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
    """Pass results to the waiting requests, waking each event loop only once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Done]] = {}
    for job, outcome in done:
        by_loop.setdefault(job.future.get_loop(), []).append((job, outcome))
    for loop, theirs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, theirs)
        except RuntimeError:  # the loop has ended
            _log.warning("%d results came after the server had stopped", len(theirs))


def _expire(future: "asyncio.Future[Any]") -> None:
    if not future.done():
        future.set_exception(TimeoutError())


def _settle(done: list[_Done]) -> None:
    for job, outcome in done:
        if job.future.done():
            continue
        if isinstance(outcome, Exception):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
