"""Words as vectors of a frozen encoder. Without torch, so exported networks use it too."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from emoscope.models.text.tokenizer import Tokenizer

HalfFloats = NDArray[np.float16]
Words = Sequence[Sequence[int]]  # token ids, grouped by word


class TurnFeatures(NamedTuple):
    """The features of a turn: a vector for each word, and one for the whole turn."""

    words: HalfFloats
    sentence: HalfFloats


class FrozenFeatures(ABC):
    """A frozen encoder that computes vectors of words; `longest` is the number of tokens it can read."""

    tokenizer: Tokenizer
    longest: int

    @abstractmethod
    def vectors(self, rows: Sequence[NDArray[np.int32]]) -> list[HalfFloats]:
        """The vectors of each row's tokens."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the encoder."""

    def words(self, rows: Sequence[Words], *, length: int) -> list[TurnFeatures]:
        """A vector for each word of a row, the mean of its tokens', and one for the whole row.

        Of a row with more than `length` tokens only the last words are read; the others get zeros. A row without words
        gets one, that of the whole row.
        """
        read = [_last_words(row, length - 2) for row in rows]
        start, end = self.tokenizer.start, self.tokenizer.end
        token_rows = [np.array([start, *(token for word in row for token in word), end], np.int32) for row in read]
        features = []
        for vectors, words, row in zip(self.vectors(token_rows), read, rows, strict=True):
            sentence = np.asarray(vectors.astype(np.float32).mean(0), np.float16)
            means = _word_means(vectors[1:-1], [len(word) for word in words], len(row))
            features.append(TurnFeatures(means if len(means) else sentence[None], sentence))
        return features


def _last_words(row: Words, room: int) -> list[Sequence[int]]:
    kept: list[Sequence[int]] = []
    for word in reversed(row):
        room -= len(word)
        if room < 0:
            break
        kept.append(word)
    return kept[::-1]


def _word_means(vectors: HalfFloats, lengths: Sequence[int], words: int) -> HalfFloats:
    """The mean of each word's token vectors; zeros for words without tokens and for those that were not read.

    >>> _word_means(np.array([[1.0], [3.0], [5.0]], np.float16), [2, 0, 1], 4).ravel().tolist()
    [0.0, 2.0, 0.0, 5.0]
    """
    means = np.zeros((words, vectors.shape[1]), np.float16)
    filled = [number for number, length in enumerate(lengths) if length]
    if filled:
        sizes = np.array([lengths[number] for number in filled])
        sums = np.add.reduceat(vectors.astype(np.float32), np.cumsum(sizes) - sizes, axis=0)
        means[np.array(filled) + words - len(lengths)] = sums / sizes[:, None]
    return means
