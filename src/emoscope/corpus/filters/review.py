"""What a filter is, and what it says about a dialogue."""

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
    """The dialogue, perhaps masked; why to drop it, if at all; and how many pieces of each kind were masked.

    `details` never hold text of the dialogue: the list of dropped rows must not leak the personal data it reports.
    """

    dialogue: Dialogue
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    masked: Mapping[str, int] = field(default_factory=dict)


class DialogueFilter:
    """Reviews dialogues, one by one or, to be faster, in batches; a review must not depend on the rest of the batch."""

    name: str
    settings: Mapping[str, Any]  # reports hold them

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """One review for each dialogue, in order."""
        return [self.review_one(dialogue) for dialogue in dialogues]

    def review_one(self, dialogue: Dialogue) -> Review:
        """The review of a dialogue alone."""
        return self.review([dialogue])[0]


def choose(options: type[S], names: Iterable[S | str], noun: str) -> tuple[S, ...]:
    """The named options, in their declared order; `noun` is what messages call one of them.

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
