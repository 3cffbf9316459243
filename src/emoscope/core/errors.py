"""User errors: each is one clear line, which the command line prints without a traceback."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any


class EmoscopeError(Exception):
    """A mistake that the user can fix: the message says what, where and how."""


class InputError(EmoscopeError):
    """An invalid input file.

    >>> str(InputError("dev.txt", "expected 5 columns, found 4", row=12))
    'dev.txt, row 12: expected 5 columns, found 4'
    """

    def __init__(self, path: str | Path, problem: str, *, row: int | str | None = None) -> None:
        self.path = str(path)
        self.row = row
        self.problem = problem
        place = f"row {row}" if isinstance(row, int) else row
        super().__init__(f"{self.path}: {problem}" if place is None else f"{self.path}, {place}: {problem}")

    def __reduce__(self) -> tuple[Any, ...]:  # makes it picklable between processes
        return partial(type(self), row=self.row), (self.path, self.problem)


class Interrupted(BaseException):
    """Ctrl-C during a command; the message says how to go on. Typer ends a KeyboardInterrupt without a word."""


class MissingExtraError(EmoscopeError):
    """An optional dependency is not installed; the message is the command that installs it."""


def did_you_mean(name: str, names: Collection[str], otherwise: str = "there are") -> str:
    """A hint for an unknown name: the one with a similar spelling, else all of them.

    >>> did_you_mean("countr", ["counter", "deque"]), did_you_mean("x", ["counter", "deque"])
    ("did you mean 'counter'?", 'there are: counter, deque')
    """
    close = get_close_matches(name.lower(), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{otherwise}: {', '.join(names)}"


def misspelt(name: str, names: Iterable[str]) -> str | None:
    """The name that is spelt nearly like this one, if any; opposites such as "happy" and "unhappy" are two names.

    >>> misspelt("hapy", ["happy", "sad"]), misspelt("unhappy", ["happy", "sad"])
    ('happy', None)
    """
    own = name.lower()
    others = {each.lower(): each for each in names}
    similar = [each for each in others if each == own or not (each.endswith(own) or own.endswith(each))]
    close = get_close_matches(own, similar, n=1, cutoff=0.8)
    return others[close[0]] if close else None


def first_line(error: Exception) -> str:
    """The first line of another library's error message.

    >>> first_line(ValueError("too long\\nby far"))
    'too long'
    """
    return (str(error).strip().splitlines() or ["?"])[0]
