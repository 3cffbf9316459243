"""The interface of filters, and their verdict on a dialogue."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError

S = TypeVar("S", bound=StrEnum)
REVIEW = "review"  # the name of the filter whose dialogues people decide on


@dataclass(frozen=True, slots=True)
class Review:
    """A filter's verdict: the dialogue, possibly masked, the reason to drop it, if any, and counts of masked data.

    `details` must not contain text of the dialogue: the list of dropped rows would leak the personal data it reports.
    """

    dialogue: Dialogue
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    masked: Mapping[str, int] = field(default_factory=dict)


class DialogueFilter:
    """Base class: reviews dialogues singly or, for speed, in batches; the batch must not affect a review."""

    name: str
    settings: Mapping[str, Any]  # written to reports

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """Review dialogues, in order."""
        return [self.review_one(dialogue) for dialogue in dialogues]

    def review_one(self, dialogue: Dialogue) -> Review:
        """Review a single dialogue."""
        return self.review([dialogue])[0]


def choose(options: type[S], names: Iterable[S | str], noun: str) -> tuple[S, ...]:
    """The named options, in their declared order; `noun` is what error messages call an option.

    >>> Colour = StrEnum("Colour", ["RED", "BLUE"])
    >>> choose(Colour, ["blue"], "colour")
    (<Colour.BLUE: 'blue'>,)
    """
    chosen = list(map(str, names))
    known = ", ".join(options)
    for name in chosen:
        if name not in set(options):
            raise EmoscopeError(f"no {noun} {name!r}; there are: {known}")
    if not chosen:
        raise EmoscopeError(f"no {noun} to look for; there are: {known}")
    return tuple(option for option in options if option in chosen)
