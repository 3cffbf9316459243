"""What every filter says of a dialogue, and what a filter is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from emoscope.core.dialogue import Dialogue


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Review:
    """The dialogue, perhaps with parts masked; the reason to drop it, if there is one; and what was found.

    `details` never hold text of the dialogue: a list of what was dropped must not hold the personal data again.
    `masked` counts what was masked, by kind.
    """

    dialogue: Dialogue
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=_nothing)
    masked: Mapping[str, int] = field(default_factory=_nothing)


class DialogueFilter(Protocol):
    """Looks at dialogues, many at a time; each review must not depend on the other dialogues of the batch."""

    @property
    def name(self) -> str:
        """What the report calls it."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Plain values for the report."""

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """One review for each dialogue, in order."""
