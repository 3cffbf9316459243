"""Style features: punctuation, capitals, elongated words, emoji, length."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import ClassVar, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.core.text import TextCounts, normalise
from emoscope.models.features.base import Extractor, Matrix, as_rows, turn_texts


@dataclass(eq=False, repr=False, kw_only=True)
class Style(Extractor):
    """Counts of `text.normalise`, of ! and ?, of words and characters, per turn; log(1 + count).

    >>> from emoscope.core.dialogue import Dialogue
    >>> row = Style(turns=(0,)).transform([Example(Dialogue.of(["NOOO!!!"]), 0)]).toarray()[0]
    >>> [name for name, value in zip(Style.names, row) if value]
    ['elongations', 'repeated_punctuation', 'shouted', 'exclamations', 'words', 'characters']
    """

    names: ClassVar[tuple[str, ...]] = (
        *(field.name for field in fields(TextCounts)),
        *("exclamations", "questions", "words", "characters"),
    )
    turns: Sequence[int] = (0, 1, 2)

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        del examples, labels, fit_context
        return self

    def transform(self, examples: Sequence[Example]) -> Matrix:
        counts = [[_counts(text) for text in turn_texts(examples, back)] for back in self.turns]
        shape = (len(self.turns), len(examples), len(self.names))
        return as_rows(np.log1p(np.concatenate(np.array(counts, np.float32).reshape(shape), axis=1)))


def _counts(text: str) -> tuple[int, ...]:
    plain = normalise(text)
    return (*astuple(plain.counts), text.count("!"), text.count("?"), len(plain.text.split()), len(text))
