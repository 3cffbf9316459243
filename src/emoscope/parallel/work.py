"""What an engine does, told apart from how: a work that any process can open, and parts to give to it."""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, Protocol

Steps = Generator[int, None, Any]  # how many more rows are done, again and again; returned at the end, the answer


class Work(Protocol):
    """Something to be done with many parts; it is pickled to get into other processes."""

    def open(self) -> Callable[[Any], Steps]:
        """What does a part, given its content; called once in a process, for it may take long (a model is loaded)."""


class Part(NamedTuple):
    """A part's number, by which events name it, and what a process must have to do it."""

    number: int
    content: Any


# The next part, None if there is none at present; asked again whenever something has been done.
Take = Callable[[], Part | None]
