"""Threads of this process, and the number of cores it may use."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import chain, islice
from math import ceil
from pathlib import Path, PurePosixPath
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")

_single_core: ContextVar[bool] = ContextVar("single_core", default=False)


def in_parallel(function: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """Map a function over items on all cores, while later items are still being produced.

    >>> in_parallel(abs, iter([-1, 2]))
    [1, 2]
    """
    if cores() == 1:
        return [function(item) for item in items]
    stream = iter(items)
    first = list(islice(stream, 2))
    if len(first) < 2:
        return [function(item) for item in first]
    return list(_workers().map(function, chain(first, stream)))


def cores() -> int:
    """The number of cores this process may use, by its affinity and its container's quota, or `EMOSCOPE_CORES`."""
    if _single_core.get():
        return 1
    if (limit := os.environ.get("EMOSCOPE_CORES", "")).isdigit():
        return max(1, int(limit))
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, container_quota() or usable)


@cache
def container_quota(system: Path = Path("/")) -> int | None:
    """The CPU quota of the process's control groups in cores, rounded up; None without a limit.

    >>> container_quota(Path("/nowhere")) is None
    True
    """
    try:
        lines = (system / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    root, quotas = system / "sys/fs/cgroup", []
    for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = root / "cpu" if controllers else root  # cgroup v2 names no controllers
        group = PurePosixPath(path.lstrip("/"))
        for folder in (top / group, *(top / parent for parent in group.parents), top):
            try:
                if controllers:
                    names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                    quota, period = ((folder / name).read_text(encoding="utf-8").strip() for name in names)
                else:
                    quota, period = (folder / "cpu.max").read_text(encoding="utf-8").split()
                quotas += [int(quota) / int(period)] if quota not in ("max", "-1") else []
            except (OSError, ValueError, ZeroDivisionError):
                continue
    return max(1, ceil(min(quotas))) if quotas else None


@contextmanager
def one_core() -> Iterator[None]:
    """Compute in this thread alone within the block, because other worker processes use the other cores."""
    token = _single_core.set(True)
    try:
        yield
    finally:
        _single_core.reset(token)


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="emoscope")


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_workers.cache_clear)
