"""What work takes: seconds by the clock or of processors."""

import os
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path

Work = Callable[[], object]
Clock = Callable[[], float]


def seconds(work: Work, clock: Clock = time.perf_counter) -> float:
    """The seconds that a function takes."""
    begun = clock()
    work()
    return clock() - begun


def interleaved(works: Mapping[str, Work], rounds: int, clock: Clock = time.process_time) -> dict[str, list[float]]:
    """The seconds of each function in each round: in turns, so that other load on the machine affects all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work, clock))
    return times


def cpu_of_children() -> float:
    """The processor seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of_process(pid: int) -> float:
    """The processor seconds that a running process has used; Linux only."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
