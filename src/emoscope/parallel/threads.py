"""Threads of this process, and how many cores it may use."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import chain, islice
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
    """How many cores this process may use; `EMOSCOPE_CORES` sets a lower limit."""
    if _single_core.get():
        return 1
    if (limit := os.environ.get("EMOSCOPE_CORES", "")).isdigit():
        return max(1, int(limit))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_core() -> Iterator[None]:
    """Compute in this thread alone within the block: the other cores have worker processes of their own."""
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
