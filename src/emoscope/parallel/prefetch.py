"""Read ahead in a thread while the current item is processed."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
_END = object()


def prefetch(items: Iterator[T], depth: int = 2) -> Generator[T, None, None]:
    """Yield the items in order, up to `depth` of them read ahead.

    >>> list(prefetch(iter([1, 2, 3])))
    [1, 2, 3]
    """
    reader = ThreadPoolExecutor(1, thread_name_prefix="emoscope-prefetch")
    try:
        waiting: deque[Future[Any]] = deque(reader.submit(next, items, _END) for _ in range(depth))
        while (item := waiting.popleft().result()) is not _END:
            waiting.append(reader.submit(next, items, _END))
            yield item
    finally:
        reader.shutdown(cancel_futures=True)
