"""A function over a stream of parts: results in the order of the parts, memory bounded."""

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
# Parts that are held at once, as parts or as results: for each worker, or where only Ray knows how many there are.
PARTS_PER_WORKER, PARTS_ON_RAY = 4, 256


class WorkItem(NamedTuple):
    """A part to do, and its place among all."""

    number: int
    content: Any

    def death(self, attempts: int, reason: str) -> "PartResult":
        name = self.content if isinstance(self.content, int) else self.number
        return PartResult(self.number, problem=f"part {name}: its worker died {attempts} times ({reason})")


TakeItem = Callable[[], WorkItem | None]  # None: nothing to do until a running part has ended


class PartResult(NamedTuple):
    """The end of a part: its result, or the one line that says why it has none."""

    number: int
    result: Any = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Executor:
    """Calls a function for each part. A worker that dies is replaced and its part repeated.

    When nothing is left to begin, a part that takes several times the median of the others is begun a second time by
    another worker, and the first that ends counts. So a function may be called twice for a part, and must then do the
    same. Parts that use several cores are not begun twice.

    | engine | calls the function |
    |---|---|
    | `serial` | in this process |
    | `local` | in `workers` processes, one for each core by default; one worker is this process |
    | `ray` | in tasks of the Ray cluster at `ray_address`, or of one started here |

    Workers compute in one thread each unless `single_core` is false. From a script, use an executor under
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
        """Yield the results in the order of the parts; the first part that fails with an `EmoscopeError` ends it.

        The function is pickled once for each worker. Parts are read as they are needed: at most `window` of them are
        running or waiting to be yielded. `progress` gets what the function reports with `advance`, and the same as a
        negative number where a worker died. A single part is done in this process.
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
