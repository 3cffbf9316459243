"""Splits of the data to look at a score by: the cue word after the masked one, length, emoji.

A slice is a `Slice` in any module, registered under a name:

>>> SLICES.add("question", "my_package.my_slices:by_question")  # doctest: +SKIP
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from emoscope.dialogue import Example
from emoscope.registry import Registry
from emoscope.text import emoticons_in


@dataclass(frozen=True, slots=True)
class Slice:
    """A way to put every example into one group; `groups` is the order they are shown in."""

    description: str
    groups: tuple[str, ...]
    group_of: Callable[[Example], str]

    def positions(self, examples: Sequence[Example]) -> dict[str, list[int]]:
        """The examples of each group that has any, by position.

        >>> from emoscope.dialogue import Dialogue
        >>> by_emoji.positions([Example(Dialogue.of([text]), turn=0) for text in ("hi", "hi 🙂")])
        {'emoji': [1], 'no emoji': [0]}
        """
        found: dict[str, list[int]] = {group: [] for group in self.groups}
        for position, example in enumerate(examples):
            found.setdefault(self.group_of(example), []).append(position)
        return {group: members for group, members in found.items() if members}


SLICES: Registry[Slice] = Registry("slice")
SLICES.add("cue", "emoscope.evaluation.slices:by_cue")
SLICES.add("length", "emoscope.evaluation.slices:by_length")
SLICES.add("emoji", "emoscope.evaluation.slices:by_emoji")

# The tweets were gathered by these beginnings, so that "thats" and "whenever" count as well.
_CUE = re.compile(r"\[#(?:trigger|target)word#\]\s*(because|that|when)", re.IGNORECASE)
_LENGTHS = ((2, "1-2 words"), (5, "3-5 words"), (10, "6-10 words"), (20, "11-20 words"))


def _cue(example: Example) -> str:
    found = _CUE.search(example.text)
    return found[1].lower() if found else "none"


def _length(example: Example) -> str:
    words = len(example.text.split())
    if words == 0:
        return "no words"
    return next((name for longest, name in _LENGTHS if words <= longest), "over 20 words")


def _emoji(example: Example) -> str:
    return "emoji" if emoticons_in(example.text) else "no emoji"


by_cue = Slice("cue word right after the masked word", ("because", "that", "when", "none"), _cue)
by_length = Slice(
    "words in the turn to be labelled",
    ("no words", *(name for _, name in _LENGTHS), "over 20 words"),
    _length,
)
by_emoji = Slice("emoji or emoticons in the turn to be labelled", ("emoji", "no emoji"), _emoji)
