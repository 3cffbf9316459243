"""Errors a user can cause: each is one clear line, which the command line prints without a traceback."""

from collections.abc import Collection
from difflib import get_close_matches
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


def did_you_mean(name: str, known: Collection[str], otherwise: str = "there are") -> str:
    """What to say of a name that nothing has: the one that is spelt alike, else all there are.

    >>> did_you_mean("countr", ["counter", "deque"]), did_you_mean("x", ["counter", "deque"])
    ("did you mean 'counter'?", 'there are: counter, deque')
    """
    close = get_close_matches(name.lower(), known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{otherwise}: {', '.join(known)}"


def first_line(error: Exception) -> str:
    """What another library's exception says, without the details after its first line.

    >>> first_line(ValueError("too long\\nby far"))
    'too long'
    """
    return (str(error).strip().splitlines() or ["?"])[0]
