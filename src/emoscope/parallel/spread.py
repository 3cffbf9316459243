"""A function over a stream of parts, on all cores or on Ray: answers in the order of the parts, memory bounded."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from emoscope.core.errors import EmoscopeError
from emoscope.parallel.engines import Engine, run_parts
from emoscope.parallel.events import Failed, Finished
from emoscope.parallel.prefetch import read_ahead
from emoscope.parallel.threads import cores, one_core
from emoscope.parallel.work import Part, Steps

P = TypeVar("P")
R = TypeVar("R")
# Parts, or their answers, that are held at once: for each worker, or where only Ray knows how many there are.
FOR_EACH, ON_RAY = 4, 256


@dataclass(frozen=True, slots=True)
class Spread:
    """Like `map`, but each call is made by one of several processes; one that dies is replaced, its part repeated.

    The function and the parts are pickled. The first part that fails with an `EmoscopeError` ends it. From a script,
    call this under `if __name__ == "__main__":`, because workers are new processes.

    >>> list(Spread(workers=1)(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    engine: Engine = "local"
    workers: int | None = None
    ray_address: str | None = None

    def __call__(self, function: Callable[[P], R], parts: Iterable[P]) -> Iterator[R]:
        """The answers, in the order of the parts, of which no more are read than are worked on."""
        coming = iter(parts)
        first = list(islice(coming, 2))
        if len(first) < 2:  # nothing to share out
            for part in first:
                with one_core():
                    answer = function(part)
                yield answer
            return
        with closing(read_ahead(chain(first, coming))) as ready:
            yield from self._in_order(_Calls(function), ready)

    def _in_order(self, calls: "_Calls", parts: Iterator[Any]) -> Generator[Any, None, None]:
        ahead = FOR_EACH * self._local_workers() if self.engine == "local" or self.workers else ON_RAY
        given = taken = 0
        done: dict[int, Finished | Failed] = {}

        def take() -> Part | None:
            nonlocal given
            if given - taken >= ahead:
                return None
            for content in parts:
                given += 1
                return Part(given - 1, content)
            return None

        with closing(run_parts(calls, take, self.engine, self.workers, self.ray_address)) as events:
            for event in events:
                if isinstance(event, Finished | Failed):
                    done[event.part] = event
                while taken in done:
                    end = done.pop(taken)
                    taken += 1
                    if isinstance(end, Failed):
                        raise EmoscopeError(end.problem)
                    yield end.answer

    def _local_workers(self) -> int:
        return self.workers or cores()


@dataclass(frozen=True, slots=True)
class _Calls:
    """The calls of a function as a work; each computes in one thread, for the other cores have workers of their own."""

    function: Callable[[Any], Any]

    def open(self) -> Callable[[Any], Steps]:
        """The function itself, which is made, with what belongs to it, when it is unpickled."""
        return self._call

    def _call(self, content: Any) -> Steps:
        with one_core():
            answer = self.function(content)
        yield 1
        return answer
