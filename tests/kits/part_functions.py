"""Functions that other processes can import, for the tests of `Executor`."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from emoscope.core.errors import EmoscopeError
from emoscope.parallel import Executor, advance
from emoscope.parallel.threads import cores


def slowest_first(part: int) -> int:
    """The same number; the smaller it is, the longer it takes."""
    time.sleep(0.3 if part == 0 else 0)
    return part


def process(part: object) -> int:
    """The id of the process that does the part."""
    time.sleep(0.2)
    return os.getpid()


def refuse_four(part: int) -> int:
    if part >= 4:
        raise EmoscopeError(f"no {part}, please")
    return part


def break_down(part: int) -> int:
    raise ValueError(f"a mistake of ours, at {part}")


def usable_cores(part: object) -> int:
    return cores()


def advance_by_part(part: int) -> int:
    advance(part)
    return part


def process_in_a_worker(part: int) -> int:
    return next(iter(Executor(workers=2).map(process, range(2))))


def die_once(marker: str) -> str:
    """Kill this process, unless it was done before."""
    advance(1)
    if marker and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return marker


def die(part: int) -> int:
    if part == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def stick_once(marker: str) -> str:
    """Note that the part was begun; the first time that a marker is named, never end."""
    if marker:
        with Path(marker).open("a+", encoding="utf-8") as begun:
            begun.write(".")
            begun.seek(0)
            first = begun.read() == "."
        advance(1)
        while first:
            time.sleep(1)
    return marker


@dataclass(frozen=True)
class Heavy:
    """Takes long to hand over."""

    weight: bytes

    def __call__(self, part: int) -> int:
        return part + len(self.weight)
