"""Worker processes of this machine: each unpickles the function once and is given part after part.

Not `ProcessPoolExecutor`: its workers outlive a parent that is killed, and one that dies breaks the pool without
saying which part it was at.
"""

import atexit
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
from emoscope.parallel.executor import PartResult, TakeItem, WorkItem
from emoscope.parallel.progress import Report, reporting_to

ATTEMPTS = 3  # how often a part whose worker dies is tried
_READY = "ready"


class WorkerDiedError(Exception):
    """A worker process ended before its part was done; the message says how."""


def run_in_processes(
    function: Callable[[Any], Any], take: TakeItem, workers: int, progress: Report
) -> Generator[PartResult, None, None]:
    """Do parts in up to `workers` processes, and yield each outcome as it comes."""
    pickled = pickle.dumps(function)
    repeats: deque[WorkItem] = deque()
    deaths: Counter[int] = Counter()
    idle: list[_WorkerProcess] = []
    busy: dict[Connection, _WorkerProcess] = {}
    try:
        while True:
            while len(busy) < workers and (item := repeats.popleft() if repeats else take()) is not None:
                worker = idle.pop() if idle else _WorkerProcess(pickled)
                worker.start(item)
                busy[worker.pipe] = worker
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                try:
                    outcome = worker.receive(progress)
                except WorkerDiedError as death:
                    del busy[worker.pipe]
                    worker.stop()
                    progress(-worker.advanced)
                    deaths[worker.item.number] += 1
                    if deaths[worker.item.number] < ATTEMPTS:
                        repeats.append(worker.item)
                    else:
                        yield worker.item.death(ATTEMPTS, str(death))
                    continue
                if outcome is not None:
                    idle.append(busy.pop(worker.pipe))
                    yield outcome
    finally:
        for worker in (*idle, *busy.values()):
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
        if self._ready:
            self._send(item)

    def receive(self, progress: Report) -> PartResult | None:
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
            progress(message)
        elif isinstance(message, str):
            raise RuntimeError(f"part {self.item.number}: a worker failed\n{message}")
        else:
            outcome: PartResult = message
            return outcome
        return None

    def _send(self, message: Any) -> None:
        with suppress(OSError):  # it is dead, which the next `receive` will show
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
    """Do the parts that come through the pipe until it ends, with the run or with the process that started it."""
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
