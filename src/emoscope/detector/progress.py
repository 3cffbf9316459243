"""Progress on request: a bar on standard error, or the caller's own function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting(progress: bool | Callable[[int], object], total: int | None) -> Iterator[Callable[[int], object]]:
    """A function to call with the number of items done since the last call.

    >>> done = []
    >>> with counting(done.append, None) as advance:
    ...     _ = advance(3)
    >>> done
    [3]
    """
    if not isinstance(progress, bool):
        yield progress
    elif progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
            task = bar.add_task("dialogues", total=total)
            yield lambda done: bar.advance(task, done)
    else:
        yield lambda _: None
