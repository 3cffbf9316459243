"""Which of a fixed set of things a filter is to look for."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from emoscope.core.errors import EmoscopeError

S = TypeVar("S", bound=StrEnum)


def choose(every: type[S], wanted: Iterable[S | str], thing: str) -> tuple[S, ...]:
    """Those that are wanted, in the order of the set; `thing` is what one of them is called.

    >>> Colour = StrEnum("Colour", ["RED", "BLUE"])
    >>> choose(Colour, ["blue"], "colour")
    (<Colour.BLUE: 'blue'>,)
    """
    names = list(map(str, wanted))
    there = ", ".join(every)
    for name in names:
        if name not in set(every):
            raise EmoscopeError(f"no {thing} {name!r}; there are: {there}")
    if not names:
        raise EmoscopeError(f"no {thing} to look for; there are: {there}")
    return tuple(each for each in every if each in names)
