"""Progress of the corpus commands on standard error."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from emoscope.cli.output import counted

T = TypeVar("T")


def watched(title: str, items: Iterable[T]) -> Iterator[T]:
    """The items, counted as they pass."""
    with counted(title, items) as passing:
        yield from passing
