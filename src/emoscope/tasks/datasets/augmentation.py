"""Training examples from back-translations."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from emoscope.core.dialogue import Dialogue, Example, Turn


def with_variants(examples: Sequence[Example], labels: Collection[str]) -> list[Example]:
    """The examples, and after each one with one of the labels its variants (back-translations) as further examples.

    Variants that only repeat the turn are left out.

    >>> example = Example(Dialogue.of(["hi", "so glad"]), 1, "joy", variants={"de": "very glad", "fr": "So glad"})
    >>> [variant.text for variant in with_variants([example], {"joy"})]
    ['so glad', 'very glad']
    """
    augmented: list[Example] = []
    for example in examples:
        augmented.append(example)
        seen = {_folded(example.text), ""}
        for _, text in sorted(example.variants.items()) if example.label in labels else ():
            if _folded(text) not in seen:
                seen.add(_folded(text))
                augmented.append(_reworded(example, text))
    return augmented


def _reworded(example: Example, text: str) -> Example:
    turns = list(example.dialogue.turns)
    turns[example.turn] = Turn(text, turns[example.turn].speaker)
    return replace(example, dialogue=Dialogue(tuple(turns), example.dialogue.id), variants={}, origin=example.dialogue)


def _folded(text: str) -> str:
    return " ".join(text.lower().split())
