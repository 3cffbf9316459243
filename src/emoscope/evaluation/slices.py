"""Splits of the data to look at a score by: the cue word after the masked one, length, emoji, kinds of wording.

A slice is a `DataSlice` in any module, registered under a name:

>>> SLICES.add("question", "my_package.my_slices:by_question")  # doctest: +SKIP
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from emoscope.core.dialogue import Example
from emoscope.core.registry import Registry
from emoscope.core.text import emoticons_in, words
from emoscope.core.word_lists import read_toml


@dataclass(frozen=True, slots=True)
class DataSlice:
    """A way to put every example into one group; `groups` is the order they are shown in."""

    description: str
    groups: tuple[str, ...]
    group_of: Callable[[Example], str]

    def positions(self, examples: Sequence[Example]) -> dict[str, list[int]]:
        """The examples of each group that has any, by position.

        >>> from emoscope.core.dialogue import Dialogue
        >>> by_emoji.positions([Example(Dialogue.of([text]), turn=0) for text in ("hi", "hi 🙂")])
        {'emoji': [1], 'no emoji': [0]}
        """
        positions: dict[str, list[int]] = {group: [] for group in self.groups}
        for position, example in enumerate(examples):
            positions.setdefault(self.group_of(example), []).append(position)
        return {group: members for group, members in positions.items() if members}


SLICES: Registry[DataSlice] = Registry("slice")
for _name in ("cue", "length", "emoji", "negation", "irony", "long", "dialect", "code-mixed"):
    SLICES.add(_name, f"emoscope.evaluation.slices:by_{_name.replace('-', '_')}")

# A few of the tweets go on with "thats" or "whenever", which count as well.
_CUE = re.compile(r"\[#(?:trigger|target)word#\]\s*(because|that|when)", re.IGNORECASE)
_LONG_INPUT = 30
_LENGTHS = {0: "no words", 2: "1-2 words", 5: "3-5 words", 10: "6-10 words", 20: "11-20 words"}
_LONGER = "over 20 words"

# Wording that misleads models. The lists are incomplete and sometimes wrong: use them to score parts of the data, not
# to label single texts.
_LISTS = read_toml("phenomena.toml", files("emoscope.evaluation"))
_NEGATIONS, _DIALECT, _OTHER_LANGUAGES = (
    frozenset(_LISTS[name].split()) for name in ("negations", "dialect", "other_languages")
)
_IRONY, _DIALECT_PHRASES = (
    re.compile(_LISTS[name], re.IGNORECASE | re.VERBOSE) for name in ("irony", "dialect_phrases")
)


def has_negation(text: str) -> bool:
    """Whether something is negated.

    >>> has_negation("I don't like it"), has_negation("I noted it")
    (True, False)
    """
    return any(word in _NEGATIONS or word.endswith("n't") for word in words(text))


def has_irony(text: str) -> bool:
    """Whether there is a mark of irony: a turn of phrase, rolling eyes, `/s`.

    >>> has_irony("oh great, another flat tyre"), has_irony("that is great")
    (True, False)
    """
    return _IRONY.search(text) is not None


def has_dialect(text: str) -> bool:
    """Whether there are words of a regional English.

    >>> has_dialect("I'm well chuffed"), has_dialect("I am very pleased")
    (True, False)
    """
    return _DIALECT_PHRASES.search(text) is not None or any(word in _DIALECT for word in words(text))


def is_code_mixed(text: str) -> bool:
    """Whether there are words of Hindi, Spanish or French, or letters of another script.

    >>> is_code_mixed("mujhe bahut gussa aa raha hai"), is_code_mixed("my house is your house")
    (True, False)
    """
    return any(word in _OTHER_LANGUAGES for word in words(text)) or any(
        character.isalpha() and not unicodedata.name(character, "LATIN").startswith(("LATIN", "MODIFIER", "FEMININE"))
        for character in text
        if not character.isascii()
    )


def _cue(example: Example) -> str:
    cue = _CUE.search(example.text)
    return cue[1].lower() if cue else "none"


def _length(example: Example) -> str:
    count = len(example.text.split())
    return next((name for longest, name in _LENGTHS.items() if count <= longest), _LONGER)


def _is_long(example: Example) -> bool:
    return sum(len(turn.text.split()) for turn in example.context.turns) > _LONG_INPUT


def _two(description: str, name: str, holds: Callable[[Example], object]) -> DataSlice:
    return DataSlice(description, (name, f"no {name}"), lambda example: name if holds(example) else f"no {name}")


def _holding(what: str, name: str, holds: Callable[[str], object]) -> DataSlice:
    return _two(f"{what} in the turn to be labelled", name, lambda example: holds(example.text))


by_cue = DataSlice("cue word right after the masked word", ("because", "that", "when", "none"), _cue)
by_length = DataSlice("words in the turn to be labelled", (*_LENGTHS.values(), _LONGER), _length)
by_emoji = _holding("emoji or emoticons", "emoji", emoticons_in)
by_negation = _holding("a negation", "negation", has_negation)
by_irony = _holding("a mark of irony", "irony", has_irony)
by_long = _two(f"over {_LONG_INPUT} words in the turn and those before it", "long input", _is_long)
by_dialect = _holding("dialect words", "dialect", has_dialect)
by_code_mixed = _holding("words of another language", "code-mixing", is_code_mixed)
