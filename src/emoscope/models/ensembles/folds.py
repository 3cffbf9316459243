"""Folds that depend on the dialogues alone, not on their file or order."""

from collections.abc import Sequence
from hashlib import sha256

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError


def fold_numbers(examples: Sequence[Example], folds: int) -> list[int]:
    """The fold of each example: the same for all turns of a dialogue, whatever its file and order.

    It depends on the dialogue's letters and digits alone, so a repaired apostrophe does not change it.

    >>> from emoscope.core.dialogue import Dialogue
    >>> numbers = fold_numbers([Example(Dialogue.of([text]), 0) for text in ("it's", "It’s", *"abcdefgh")], 2)
    >>> numbers[0] == numbers[1], sorted(set(numbers))
    (True, [0, 1])
    """
    fold_of = {family: fold_number(family, folds) for family in {example.family for example in examples}}
    if len(set(fold_of.values())) < folds:
        raise EmoscopeError(f"{len(fold_of)} different dialogues are too few for {folds} folds")
    return [fold_of[example.family] for example in examples]


def fold_number(texts: Sequence[str], folds: int) -> int:
    """The fold of one dialogue."""
    plain = "|".join("".join(filter(str.isalnum, text.lower())) for text in texts)
    return int.from_bytes(sha256(plain.encode("utf-8", "replace")).digest()[:8]) % folds
