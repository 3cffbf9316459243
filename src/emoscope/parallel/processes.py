"""All cores of this machine: a process for each, that opens the work for itself and does part after part.

Processes rather than threads: reading, tokenising and all of `nano` are Python's, and threads would take turns at it.
"""

import multiprocessing
import pickle
import signal
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.parallel.events import Advanced, Event, Failed, Finished, Lost
from emoscope.parallel.work import Part, Steps, Take, Work

ATTEMPTS = 3  # a part whose worker dies so often is not tried again


def work_here(work: Work, take: Take) -> Generator[Event, None, None]:
    """Do parts in this process, one after the other."""
    do = work.open()
    while (part := take()) is not None:
        yield from _events(do, part)


def work_in_processes(work: Work, take: Take, workers: int) -> Generator[Event, None, None]:
    """Do parts in up to so many processes; a process that dies is replaced, and its part done again."""
    # Started afresh rather than forked: a fork would copy locks that other threads of this process hold.
    context = multiprocessing.get_context("spawn")
    packed = pickle.dumps(work)
    again: deque[Part] = deque()
    attempts: Counter[int] = Counter()
    team: list[_Worker] = []
    try:
        while True:
            _occupy(team, lambda: again.popleft() if again else take(), lambda: _Worker(context, packed), workers)
            busy = [worker for worker in team if worker.part is not None]
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe not in ready or worker.part is None:
                    continue
                part = worker.part
                event = worker.told()
                yield event
                if isinstance(event, Lost):
                    team.remove(worker)
                    attempts[part.number] += 1
                    if attempts[part.number] == ATTEMPTS:
                        yield Failed(
                            part.number, f"part {part.number}: its worker died {ATTEMPTS} times ({worker.end()})"
                        )
                    else:
                        again.append(part)
                    worker.stop()
    finally:
        for worker in team:
            worker.stop()


def _occupy(team: "list[_Worker]", take: Take, hire: "Callable[[], _Worker]", most: int) -> None:
    """Give parts to those who have none, and to new ones, as long as there are parts."""
    while True:
        idle = next((worker for worker in team if worker.part is None), None)
        if (idle is None and len(team) == most) or (part := take()) is None:
            return
        if idle is None:
            idle = hire()
            team.append(idle)
        idle.give(part)


class _Worker:
    """A process, the pipe to it, and the part it works on."""

    def __init__(self, context: Any, work: bytes) -> None:
        self.pipe, theirs = context.Pipe()
        # The work is not among the arguments: were the worker to die while Python hands those over, that would hang.
        self._process = context.Process(target=_work, args=(theirs,), daemon=True, name="emoscope")
        self._process.start()
        theirs.close()  # so that the pipe ends when the worker does
        self._work: bytes | None = work  # until it is up and can be told
        self.part: Part | None = None

    def give(self, part: Part) -> None:
        """Give it a part."""
        self.part = part
        if self._work is None:
            self._send(part)

    def _send(self, *things: Any) -> None:
        with suppress(OSError):  # it is dead, which the next look at its pipe will show
            for thing in things:
                self.pipe.send(thing)

    def told(self) -> Event:
        """What it has to say; that it is lost, if it died."""
        assert self.part is not None
        number = self.part.number
        try:
            event: Event | str | None = self.pipe.recv()
        except (EOFError, OSError):
            return Lost(number)
        if event is None:
            self._send(self._work, self.part)
            self._work = None
            return Advanced(number, 0)
        if isinstance(event, str):
            raise RuntimeError(f"part {number}: a worker failed\n{event}")
        if not isinstance(event, Advanced):
            self.part = None
        return event

    def end(self) -> str:
        """How it ended."""
        self._process.join(5)
        code = self._process.exitcode
        return f"signal {-code}; is there too little memory?" if code is not None and code < 0 else f"exit code {code}"

    def stop(self) -> None:
        """End it."""
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _work(pipe: Connection) -> None:
    """A worker's life: parts come through the pipe until it ends, with the run or with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the run, which ends its workers
    try:
        pipe.send(None)  # it is up
        work: bytes = pipe.recv()
        do: Callable[[Any], Steps] | None = None
        while True:
            part: Part = pipe.recv()
            try:
                do = do or pickle.loads(work).open()
            except EmoscopeError as error:
                pipe.send(Failed(part.number, str(error)))
                continue
            for event in _events(do, part):
                pipe.send(event)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except BaseException:
        pipe.send(traceback.format_exc())


def _events(do: Callable[[Any], Steps], part: Part) -> Generator[Event, None, None]:
    steps = do(part.content)
    try:
        while True:
            yield Advanced(part.number, next(steps))
    except StopIteration as end:
        yield Finished(part.number, end.value)
    except EmoscopeError as error:
        yield Failed(part.number, str(error))
