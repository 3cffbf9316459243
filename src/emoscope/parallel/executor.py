"""Map a function over a stream of parts, in order and in bounded memory."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice
from typing import Any, Literal, NamedTuple, TypeVar

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.parallel.prefetch import prefetch
from emoscope.parallel.progress import Report, ignore, reporting_to
from emoscope.parallel.threads import cores, one_core

P = TypeVar("P")
R = TypeVar("R")
Engine = Literal["serial", "local", "ray"]
# Parts in flight, as parts or results: per worker, or in all if only Ray knows how many workers there are.
PARTS_PER_WORKER, PARTS_ON_RAY = 4, 256


class WorkItem(NamedTuple):
    """A part and its number."""

    number: int
    content: Any

    def death(self, attempts: int, reason: str) -> "PartResult":
        name = self.content if isinstance(self.content, int) else self.number
        return PartResult(self.number, problem=f"part {name}: its worker died {attempts} times ({reason})")


TakeItem = Callable[[], WorkItem | None]  # None: nothing to start until a running part has ended


class PartResult(NamedTuple):
    """The result of a part, or the problem in one line."""

    number: int
    result: Any = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Executor:
    """Calls a function for each part. A worker that dies is replaced and its part repeated.

    When no part is left to start, one that takes several times the median of the others is started again by another
    worker, and the first result counts. So the function may be called twice for a part, and must be idempotent. Parts
    that use several cores are not started twice.

    | engine | calls the function |
    |---|---|
    | `serial` | in this process |
    | `local` | in `workers` processes, by default one per core; a single worker is this process |
    | `ray` | in tasks of the Ray cluster at `ray_address`, or of one started here |

    Each worker computes in one thread unless `single_core` is false. In a script, use an executor under
    `if __name__ == "__main__":`, because workers are new processes.

    >>> list(Executor(workers=1).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    engine: Engine = "local"
    workers: int | None = None
    ray_address: str | None = None
    single_core: bool = True

    def map(
        self,
        function: Callable[[P], R],
        parts: Iterable[P],
        *,
        progress: Report = ignore,
        window: int | None = None,
    ) -> Iterator[R]:
        """Yield the results in the order of the parts; the first part that fails with an `EmoscopeError` ends the map.

        The function is pickled once per worker. Parts are read as needed: at most `window` of them are running or
        waiting to be yielded. `progress` gets what the function reports with `advance`, and takes it back with a
        negative number if a worker dies. A single part runs in this process.
        """
        if self.engine == "ray":
            check_installed("ray", extra="ray")
        stream = iter(parts)
        first = list(islice(stream, 2))
        parts = chain(first, stream)
        if self.engine == "serial":
            yield from _map_here(function, parts, progress)
            return
        call = partial(_call_on_one_core, function) if self.single_core else function
        with closing(prefetch(parts)) as ready:
            workers = self.workers or cores()
            if len(first) < 2 or (self.engine == "local" and workers == 1):
                yield from _map_here(call, ready, progress)
                return
            if window is None:
                window = PARTS_ON_RAY if self.engine == "ray" and not self.workers else PARTS_PER_WORKER * workers
            yield from self._map_in_workers(call, ready, progress, window)

    def _map_in_workers(
        self, function: Callable[[Any], Any], parts: Iterator[Any], progress: Report, window: int
    ) -> Iterator[Any]:
        items = map(WorkItem, count(), parts)
        taken = yielded = 0
        ended: dict[int, PartResult] = {}

        def take() -> WorkItem | None:
            nonlocal taken
            if taken - yielded >= window:
                return None
            item = next(items, None)
            taken += item is not None
            return item

        if self.engine == "ray":
            from emoscope.parallel.ray_tasks import run_on_ray

            unordered = run_on_ray(function, take, self.workers, self.ray_address, progress, repeat=self.single_core)
        else:
            from emoscope.parallel.processes import run_in_processes

            unordered = run_in_processes(function, take, self.workers or cores(), progress, repeat=self.single_core)
        with closing(unordered) as results:
            for outcome in results:
                ended[outcome.number] = outcome
                while yielded in ended:
                    first = ended.pop(yielded)
                    yielded += 1
                    if first.problem is not None:
                        raise EmoscopeError(first.problem)
                    yield first.result


SERIAL = Executor("serial")


def _map_here(function: Callable[[P], R], parts: Iterable[P], progress: Report) -> Iterator[R]:
    for part in parts:
        with reporting_to(progress):
            result = function(part)
        yield result


def _call_on_one_core(function: Callable[[P], R], part: P) -> R:
    with one_core():
        return function(part)
