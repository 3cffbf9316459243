"""Errors a user can cause: each is one clear line, which the command line prints without a traceback."""

from functools import partial
from pathlib import Path
from typing import Any


class EmoscopeError(Exception):
    """Something the user can mend: the message says what, where and how."""


class InputError(EmoscopeError):
    """A file that is not what it should be.

    >>> str(InputError("dev.txt", "expected 5 columns, found 4", row=12))
    'dev.txt, row 12: expected 5 columns, found 4'
    """

    def __init__(self, path: str | Path, problem: str, *, row: int | str | None = None) -> None:
        self.path = str(path)
        self.row = row
        self.problem = problem
        place = f"row {row}" if isinstance(row, int) else row
        super().__init__(f"{self.path}: {problem}" if place is None else f"{self.path}, {place}: {problem}")

    def __reduce__(self) -> tuple[Any, ...]:  # so that it can come from another process
        return partial(type(self), row=self.row), (self.path, self.problem)


class MissingExtraError(EmoscopeError):
    """An optional dependency is not installed; the message is the command that installs it."""


def first_line(error: Exception) -> str:
    """What another library's exception says, without the details after its first line.

    >>> first_line(ValueError("too long\\nby far"))
    'too long'
    """
    return (str(error).strip().splitlines() or ["?"])[0]
