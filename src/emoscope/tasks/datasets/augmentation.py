"""More examples from other wordings of the same turn."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from emoscope.core.dialogue import Dialogue, Example, Turn


def with_variants(examples: Sequence[Example], labels: Collection[str]) -> list[Example]:
    """All examples, each one of the given labels followed by its variants (back-translations) as examples of their own.

    Data without variants come back as they are. A variant that only repeats the turn is left out.

    >>> example = Example(Dialogue.of(["hi", "so glad"]), 1, "joy", variants={"de": "very glad", "fr": "So glad"})
    >>> [made.text for made in with_variants([example], {"joy"})]
    ['so glad', 'very glad']
    """
    made: list[Example] = []
    for example in examples:
        made.append(example)
        if example.label in labels:
            made += _variants(example)
    return made


def _variants(example: Example) -> Iterator[Example]:
    seen = {_plain(example.text), ""}
    for _, text in sorted(example.variants.items()):
        if _plain(text) not in seen:
            seen.add(_plain(text))
            yield _reworded(example, text)


def _reworded(example: Example, text: str) -> Example:
    turns = list(example.dialogue.turns)
    turns[example.turn] = Turn(text, turns[example.turn].speaker)
    return replace(example, dialogue=Dialogue(tuple(turns), example.dialogue.id), variants={}, origin=example.dialogue)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
