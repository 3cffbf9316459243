"""Style features: punctuation, capitals, elongated words, emoji, length."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import ClassVar

import numpy as np

from emoscope.core.text import TextCounts, normalise
from emoscope.models.features.base import Matrix, TurnExtractor, as_rows


@dataclass(eq=False, repr=False, kw_only=True)
class Style(TurnExtractor):
    """Counts of `text.normalise`, of ! and ?, of words and characters, per turn; log(1 + count).

    >>> from emoscope.core.dialogue import Dialogue, Example
    >>> row = Style(turns=(0,)).transform([Example(Dialogue.of(["NOOO!!!"]), 0)]).toarray()[0]
    >>> [name for name, value in zip(Style.names, row) if value]
    ['elongations', 'repeated_punctuation', 'shouted', 'exclamations', 'words', 'characters']
    """

    names: ClassVar[tuple[str, ...]] = (
        *(field.name for field in fields(TextCounts)),
        *("exclamations", "questions", "words", "characters"),
    )

    def transform_turn(self, texts: Sequence[str], _: int) -> Matrix:
        counts = np.array([_counts(text) for text in texts], np.float32)
        return as_rows(np.log1p(counts.reshape(len(texts), len(self.names))))


def _counts(text: str) -> tuple[int, ...]:
    plain = normalise(text)
    return (*astuple(plain.counts), text.count("!"), text.count("?"), len(plain.text.split()), len(text))
