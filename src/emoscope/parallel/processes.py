"""Worker processes on this machine: each unpickles the function once and then processes part after part.

Not `ProcessPoolExecutor`: its workers outlive a killed parent, and one that dies breaks the pool without saying which
part it was working on.
"""

import atexit
import multiprocessing
import pickle
import signal
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.parallel.executor import PartResult, TakeItem, WorkItem
from emoscope.parallel.progress import Report, reporting_to
from emoscope.parallel.stragglers import Stragglers

ATTEMPTS = 3  # how often a part whose worker dies is tried
_READY = "ready"


class WorkerDiedError(Exception):
    """A worker process ended before its part was done; the message says how."""


def run_in_processes(
    function: Callable[[Any], Any], take: TakeItem, workers: int, progress: Report, *, repeat: bool
) -> Generator[PartResult, None, None]:
    """Process parts in up to `workers` processes, and yield each outcome as it comes.

    With `repeat`, an idle worker starts a late part a second time, and the first result counts.
    """
    pool = _Pool(pickle.dumps(function), progress)
    try:
        while True:
            while len(pool.busy) < workers and (item := pool.lost.popleft() if pool.lost else take()) is not None:
                pool.begin(item)
            if not pool.busy:
                return
            items = [worker.item for worker in pool.busy.values()]
            again, seconds = pool.stragglers.late(items, workers - len(items) if repeat else 0)
            for item in again:
                pool.begin(item)
            for pipe in wait(list(pool.busy), seconds):
                # It may be gone, if another worker has just finished the same part.
                if pipe in pool.busy and (outcome := pool.receive(pool.busy[pipe])) is not None:
                    yield outcome
    finally:
        pool.stop()


class _Pool:
    """The worker processes and the progress of their parts."""

    def __init__(self, function: bytes, progress: Report) -> None:
        self._function, self._progress = function, progress
        self._idle: list[_WorkerProcess] = []
        self.busy: dict[Connection, _WorkerProcess] = {}
        self.lost: deque[WorkItem] = deque()  # parts whose worker died
        self.stragglers = Stragglers()
        self._deaths: Counter[int] = Counter()
        self._advanced: Counter[int] = Counter()  # the reported progress of each running part

    def begin(self, item: WorkItem) -> None:
        worker = self._idle.pop() if self._idle else _WorkerProcess(self._function)
        worker.start(item)
        self.busy[worker.pipe] = worker

    def receive(self, worker: "_WorkerProcess") -> PartResult | None:
        """Take a worker's next message; returns the outcome of its part if the message is one."""
        item = worker.item
        try:
            outcome = worker.receive()
        except WorkerDiedError as death:
            outcome = self._death(worker, str(death))
        else:
            if outcome is not None:
                self._idle.append(self.busy.pop(worker.pipe))
                self.stragglers.ended(time.monotonic() - worker.started)
        others = [each for each in self.busy.values() if each.item.number == item.number and each is not worker]
        furthest = worker.advanced if outcome else max(each.advanced for each in (worker, *others))
        self._progress(furthest - self._advanced[item.number])
        self._advanced[item.number] = furthest
        if outcome is not None:
            del self._advanced[item.number]
            for late in others:
                self.busy.pop(late.pipe).stop()
        return outcome

    def _death(self, worker: "_WorkerProcess", reason: str) -> PartResult | None:
        del self.busy[worker.pipe]
        worker.stop()
        worker.advanced = 0
        number = worker.item.number
        self._deaths[number] += 1
        if self._deaths[number] == ATTEMPTS:
            return worker.item.death(ATTEMPTS, reason)
        if not any(each.item.number == number for each in self.busy.values()):
            self.lost.append(worker.item)
        return None

    def stop(self) -> None:
        for worker in (*self._idle, *self.busy.values()):
            worker.stop()


class _WorkerProcess:
    """A process, the pipe to it, and the part it works on."""

    item: WorkItem

    def __init__(self, function: bytes) -> None:
        # Spawned rather than forked: a fork copies locks that other threads hold, and cannot use a GPU.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # The function is not among the arguments: were the worker to die while Python writes those, that would hang.
        # Not a daemon either, for those may not start workers of their own; `atexit` ends it instead.
        self._process = context.Process(target=_work, args=(theirs,), name="emoscope")
        self._process.start()
        atexit.register(self.stop)
        theirs.close()  # so that the pipe ends when the worker does
        self._function: bytes | None = function  # until it has been sent
        self._ready = False
        self.advanced = 0

    def start(self, item: WorkItem) -> None:
        self.item = item
        self.advanced = 0
        self.started = time.monotonic()
        if self._ready:
            self._send(item)

    def receive(self) -> PartResult | None:
        """Take the next message; returns the outcome if it is one."""
        try:
            message = self.pipe.recv()
        except (EOFError, OSError):
            raise WorkerDiedError(self._end()) from None
        if message == _READY:
            self._ready = True
            self._send(self._function)
            self._function = None
            self._send(self.item)
        elif isinstance(message, int):
            self.advanced += message
        elif isinstance(message, str):
            raise RuntimeError(f"part {self.item.number}: a worker failed\n{message}")
        else:
            outcome: PartResult = message
            return outcome
        return None

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # a dead worker shows at the next `receive`
            self.pipe.send(message)

    def _end(self) -> str:
        self._process.join(5)
        code = self._process.exitcode
        return f"signal {-code}; is there too little memory?" if code is not None and code < 0 else f"exit code {code}"

    def stop(self) -> None:
        atexit.unregister(self.stop)
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _work(pipe: Connection) -> None:
    """Process the parts that come through the pipe until it is closed, by the run or by the end of its process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends its workers
    try:
        pipe.send(_READY)
        pickled: bytes = pipe.recv()
        function: Callable[[Any], Any] | None = None
        while True:
            number, content = pipe.recv()
            try:
                function = function or pickle.loads(pickled)
                with reporting_to(pipe.send):
                    outcome = PartResult(number, function(content))
            except EmoscopeError as error:
                outcome = PartResult(number, problem=str(error))
            pipe.send(outcome)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return
    except BaseException:
        pipe.send(traceback.format_exc())
