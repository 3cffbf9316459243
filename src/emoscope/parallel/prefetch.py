"""Reading while computing: the next items are made in a thread while the current one is worked on."""

import queue
import threading
from collections.abc import Generator, Iterator
from typing import TypeVar

T = TypeVar("T")


def read_ahead(items: Iterator[T], depth: int = 2) -> Generator[T, None, None]:
    """The items in order, at most `depth` of them made before they are asked for.

    >>> list(read_ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    made: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(depth)  # None after the last
    stop = threading.Event()

    def offer(found: tuple[T] | BaseException | None) -> bool:
        while not stop.is_set():
            try:
                made.put(found, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def read() -> None:
        try:
            for item in items:
                if not offer((item,)):
                    return
        except BaseException as error:  # raised again where the item would have been taken
            offer(error)
            return
        offer(None)

    thread = threading.Thread(target=read, name="emoscope-reader", daemon=True)
    thread.start()
    try:
        while (found := made.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found[0]
    finally:
        stop.set()
        thread.join()
