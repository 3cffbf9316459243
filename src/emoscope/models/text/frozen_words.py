"""Words as the vectors of a frozen encoder. Needs no torch, so that exported networks read alike."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from emoscope.models.text.tokenizer import Tokenizer

HalfFloats = NDArray[np.float16]
Words = Sequence[Sequence[int]]
Vectors = Callable[[Sequence[NDArray[np.int32]]], list[HalfFloats]]


class Features(Protocol):
    """An encoder that only gives features."""

    @property
    def tokenizer(self) -> Tokenizer:
        """What it reads texts as."""

    @property
    def longest(self) -> int:
        """How many pieces it can read."""

    def words(self, rows: Sequence[Words], *, length: int) -> list[tuple[HalfFloats, HalfFloats]]:
        """What `word_vectors` says."""

    def save(self, folder: Path) -> None:
        """Write the encoder."""


def word_vectors(
    rows: Sequence[Words], tokenizer: Tokenizer, vectors: Vectors, *, length: int
) -> list[tuple[HalfFloats, HalfFloats]]:
    """A vector for each word of each row, the mean of its pieces', and one for the whole row.

    `vectors` gives those of pieces. Of a row that goes beyond `length` pieces the last words are read; the others have
    zeros.
    """
    read = [_last_words(row, length - 2) for row in rows]
    laid_out = [
        np.array([tokenizer.start, *(piece for word in row for piece in word), tokenizer.end], np.int32) for row in read
    ]
    return [
        (_word_means(vector[1:-1], [len(word) for word in words], len(row)), _mean(vector))
        for vector, words, row in zip(vectors(laid_out), read, rows, strict=True)
    ]


def _last_words(row: Words, room: int) -> list[Sequence[int]]:
    kept: list[Sequence[int]] = []
    for word in reversed(row):
        room -= len(word)
        if room < 0:
            break
        kept.append(word)
    return kept[::-1]


def _word_means(pieces: HalfFloats, lengths: Sequence[int], words: int) -> HalfFloats:
    """The mean of each word's pieces; zeros for words without any, and for those before the first that was read.

    >>> _word_means(np.array([[1.0], [3.0], [5.0]], np.float16), [2, 0, 1], 4).ravel().tolist()
    [0.0, 2.0, 0.0, 5.0]
    """
    made = np.zeros((words, pieces.shape[1]), np.float16)
    filled = [number for number, length in enumerate(lengths) if length]
    if filled:
        sizes = np.array([lengths[number] for number in filled])
        sums = np.add.reduceat(pieces.astype(np.float32), np.cumsum(sizes) - sizes, axis=0)
        made[np.array(filled) + words - len(lengths)] = sums / sizes[:, None]
    return made


def _mean(pieces: HalfFloats) -> HalfFloats:
    return np.asarray(pieces.astype(np.float32).mean(0), np.float16)
