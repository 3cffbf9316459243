"""Commands in processes of their own, and what they take."""

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.memory import MB, proportional_memory


class Spent(NamedTuple):
    """What a process and its children took: seconds, and their peak memory together in megabytes."""

    seconds: float
    peak: float


def module_command(module: str, *arguments: object) -> list[str]:
    """The command line of one of our modules, which starts where this one did."""
    return [sys.executable, "-m", module, *map(str, arguments)]


def module_output(module: str, *arguments: object) -> str:
    """What one of our modules prints."""
    command = module_command(module, *arguments)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def run_watched(command: Sequence[str]) -> Spent:
    """Run a command to its end, watching its memory."""
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
    """The processes a process has started, and those they have."""
    pids: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text(encoding="ascii").split()]
        except OSError:
            continue
        pids += [each for child in children for each in (child, *descendants(child))]
    return pids
