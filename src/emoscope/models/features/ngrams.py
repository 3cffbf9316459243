"""Word and character n-grams, with a vocabulary for each turn."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.arrays import load_arrays, pack_words, save_arrays, unpack_words
from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.features.base import Matrix, TurnExtractor, column_counts, turn_texts
from emoscope.models.features.tokens import TOKENISERS
from emoscope.models.text.vocabulary import tokeniser

FILE = "ngrams.npz"


@dataclass(eq=False, repr=False, kw_only=True)
class Ngrams(TurnExtractor):
    """N-grams in at least `min_count` training texts, or the `max_features` most frequent of those.

    `lengths` are the shortest and the longest n-gram. `weighting` is "boolean" (is it there?), "count", or "tfidf":
    1 + log of the count, times rarity, each turn's row scaled to length 1. `turns` count back from
    the one to label.

    >>> from emoscope.core.dialogue import Dialogue
    >>> examples = [Example(Dialogue.of([text]), 0) for text in ("so sad", "so so happy")]
    >>> grams = Ngrams(lengths=(1, 1), weighting="boolean", turns=(0,), min_count=1)
    >>> grams.fit(examples, ["a", "b"], FitContext()).vocabularies, grams.transform(examples).toarray().tolist()
    ([['happy', 'sad', 'so']], [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    """

    unit: Literal["word", "char"] = "word"
    lengths: Sequence[int] = (1, 2)
    weighting: Literal["boolean", "count", "tfidf"] = "tfidf"
    min_count: int = 2
    max_features: int | None = None
    tokens: str = "chat"
    _columns: list[dict[str, int]] = field(init=False, default_factory=list)
    _rarity: list[NDArray[np.float32]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.unit not in ("word", "char") or self.weighting not in ("boolean", "count", "tfidf"):
            given = f"{self.unit} and {self.weighting}"
            raise EmoscopeError(f"n-grams are of words or chars, boolean, count or tfidf; not {given}")
        self._cut = tokeniser(self.tokens, TOKENISERS)

    @property
    def vocabularies(self) -> list[list[str]]:
        """The n-grams of each turn, in the order of their columns."""
        return [list(columns) for columns in self._columns]

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        del labels, fit_context
        self._columns, self._rarity = [], []
        for back in self.turns:
            holders = Counter(chain.from_iterable(set(grams) for grams in self._grams(turn_texts(examples, back))))
            chosen = [(gram, count) for gram, count in holders.items() if count >= self.min_count]
            if self.max_features is not None:
                chosen = sorted(chosen, key=lambda gram_and_count: (-gram_and_count[1], gram_and_count[0]))[
                    : self.max_features
                ]
            chosen.sort()
            self._columns.append({gram: column for column, (gram, _) in enumerate(chosen)})
            counts = np.array([count for _, count in chosen], np.float64)
            self._rarity.append(np.asarray(np.log((1 + len(examples)) / (1 + counts)) + 1, np.float32))
        return self

    def transform_turn(self, texts: Sequence[str], number: int) -> Matrix:
        columns = self._columns[number]
        rows = ((columns[gram] for gram in grams if gram in columns) for grams in self._grams(texts))
        matrix = column_counts(rows, len(columns))
        if self.weighting == "boolean":
            matrix.data[:] = 1
        elif self.weighting == "tfidf":
            matrix.data = (1 + np.log(matrix.data)) * self._rarity[number][matrix.indices]
            lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(1)).ravel())
            matrix.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(matrix.indptr)).astype(np.float32)
        return matrix

    def _grams(self, texts: Sequence[str]) -> Iterator[list[str]]:
        shortest, longest = self.lengths
        sizes = range(shortest, longest + 1)
        for text in texts:
            tokens = self._cut(text)
            if self.unit == "word":
                grams = list(tokens) if shortest == 1 else []
                for size in sizes:
                    if size > 1:
                        grams += map(" ".join, zip(*(tokens[start:] for start in range(size)), strict=False))
            else:
                line = f" {' '.join(tokens)} " if tokens else ""
                grams = [line[at : at + size] for size in sizes for at in range(len(line) - size + 1)]
            yield grams

    def save_weights(self, folder: Path) -> None:
        arrays: dict[str, NDArray[Any]] = {}
        for number, (columns, rarity) in enumerate(zip(self._columns, self._rarity, strict=True)):
            arrays[f"grams{number}"] = pack_words(list(columns))
            arrays[f"rarity{number}"] = rarity
        save_arrays(folder / FILE, arrays)

    def load_weights(self, folder: Path) -> None:
        arrays = load_arrays(folder / FILE)
        self._columns = [
            {gram: column for column, gram in enumerate(unpack_words(arrays[f"grams{number}"]))}
            for number in range(len(self.turns))
        ]
        self._rarity = [arrays[f"rarity{number}"] for number in range(len(self.turns))]
