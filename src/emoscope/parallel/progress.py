"""Progress within a part, reported from wherever the part is computed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Report = Callable[[int], None]


def ignore(amount: int) -> None:
    """Ignore progress."""


_report: ContextVar[Report] = ContextVar("report", default=ignore)


def advance(amount: int) -> None:
    """Report that this many more items of the current part are done."""
    _report.get()(amount)


@contextmanager
def reporting_to(report: Report) -> Iterator[None]:
    """Send the progress reported within the block to `report`."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)
