"""Other processes: commands with their time and memory, and workers that answer questions."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.memory import MB, proportional_memory


class Spent(NamedTuple):
    """The seconds that a process took, and the peak memory of it and its children in megabytes."""

    seconds: float
    peak: float


def module_command(module: str, *arguments: object) -> list[str]:
    """The command line of a module, in this environment."""
    return [sys.executable, "-m", module, *map(str, arguments)]


def module_output(module: str, *arguments: object) -> str:
    """What a module prints."""
    command = module_command(module, *arguments)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Worker:
    """A process that answers questions, both as lines of JSON; see `answer_questions`."""

    def __init__(self, module: str, *arguments: object, environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            module_command(module, *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )

    def ask(self, **question: object) -> Any:
        """Send a question and wait for the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def answer_questions(start: Callable[[], Callable[..., object]]) -> None:
    """In a worker's process: call what `start` returns with each question, to the end of standard input."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    answer = start()
    for line in sys.stdin:
        out.write(json.dumps(answer(**json.loads(line))) + "\n")
        out.flush()


def run_watched(command: Sequence[str]) -> Spent:
    """Run a command to its end and sample its memory."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = 0.0
    ended = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.2):
            held = sum(proportional_memory(pid) for pid in (process.pid, *descendants(process.pid)))
            peak = max(peak, held / MB)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    _, error = process.communicate()
    seconds = time.perf_counter() - begun
    ended.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{error[-2000:]}")
    return Spent(seconds, peak)


def descendants(pid: int) -> list[int]:
    """The children of a process, and theirs."""
    pids: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text(encoding="ascii").split()]
        except OSError:
            continue
        pids += [each for child in children for each in (child, *descendants(child))]
    return pids
