"""All cores of this machine: a process for each, with a model of its own, that scores part after part.

Processes rather than threads: reading, tokenising and all of `nano` are Python's, and threads would take turns at it.
"""

import multiprocessing
import signal
import traceback
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from emoscope.errors import EmoscopeError
from emoscope.scale.events import Advanced, Event, Failed, Finished, Lost
from emoscope.scale.scoring import Job, Scorer

ATTEMPTS = 3  # a part whose worker dies so often is not tried again


def score_here(job: Job, parts: Sequence[int]) -> Generator[Event, None, None]:
    """Score parts in this process, one after the other."""
    scorer = Scorer(job)
    for part in parts:
        try:
            for rows in scorer.score(part):
                yield Advanced(part, rows)
        except EmoscopeError as error:
            yield Failed(part, str(error))
        else:
            yield Finished(part)


def score_in_processes(job: Job, parts: Sequence[int], workers: int) -> Generator[Event, None, None]:
    """Score parts in several processes; a process that dies is replaced, and its part done again."""
    waiting = deque(parts)
    attempts: Counter[int] = Counter()
    # Started afresh rather than forked: a fork would copy locks that other threads of this process hold.
    context = multiprocessing.get_context("spawn")
    team = [_Worker(context, job) for _ in range(min(workers, len(parts)))]
    try:
        for worker in team:
            worker.take(waiting)
        while any(worker.part is not None for worker in team):
            ready = wait([worker.pipe for worker in team if worker.part is not None])
            for place, worker in enumerate(team):
                if worker.pipe not in ready or worker.part is None:
                    continue
                part = worker.part
                event = worker.told()
                yield event
                if isinstance(event, Lost):
                    attempts[part] += 1
                    if attempts[part] == ATTEMPTS:
                        yield Failed(part, f"part {part}: its worker died {ATTEMPTS} times ({worker.end()})")
                    else:
                        waiting.appendleft(part)
                    worker.stop()
                    team[place] = _Worker(context, job)
                if not isinstance(event, Advanced):
                    team[place].take(waiting)
    finally:
        for worker in team:
            worker.stop()


class _Worker:
    """A process, the pipe to it, and the part it works on."""

    def __init__(self, context: Any, job: Job) -> None:
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(job, theirs), daemon=True, name="emoscope-score")
        self._process.start()
        theirs.close()  # so that the pipe ends when the worker does
        self.part: int | None = None

    def take(self, waiting: deque[int]) -> None:
        """Give it the next part, if there is one."""
        self.part = waiting.popleft() if waiting else None
        if self.part is not None:
            with suppress(OSError):  # it is dead, which the next look at its pipe will show
                self.pipe.send(self.part)

    def told(self) -> Event:
        """What it has to say; that it is lost, if it died."""
        assert self.part is not None
        try:
            event: Event | str = self.pipe.recv()
        except (EOFError, OSError):
            return Lost(self.part)
        if isinstance(event, str):
            raise RuntimeError(f"part {self.part}: a worker failed\n{event}")
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


def _work(job: Job, pipe: Connection) -> None:
    """A worker's life: parts come through the pipe until it ends, with the run or with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the run, which ends its workers
    try:
        scorer: Scorer | None = None
        while True:
            part = pipe.recv()
            try:
                scorer = scorer or Scorer(job)
                for rows in scorer.score(part):
                    pipe.send(Advanced(part, rows))
            except EmoscopeError as error:
                pipe.send(Failed(part, str(error)))
            else:
                pipe.send(Finished(part))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except BaseException:
        pipe.send(traceback.format_exc())
