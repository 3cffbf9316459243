"""Scores of hashed n-grams by `ngrams.c`, bit for bit those of numpy."""

import ctypes
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.models.native.library import fields, library
from emoscope.models.native.plain_text import end_to_end, is_plain, offsets

LONGEST = 16  # characters of an n-gram


class _Ngrams(ctypes.Structure):
    _fields_ = fields(ctypes.c_void_p, "table field_weights word_lengths char_lengths")
    _fields_ += fields(ctypes.c_int32, "bits labels fields word_count char_count")


class NativeNgrams:
    """The sums of a table's rows over all n-grams of a row of texts; safe to use from many threads.

    Needs the compiled library, and n-grams of at most `LONGEST` characters.
    """

    def __init__(
        self,
        table: NDArray[np.int8],
        *,
        bits: int,
        field_weights: Sequence[float],
        word_lengths: Sequence[int],
        char_lengths: Sequence[int],
    ) -> None:
        self._library = library()
        self.labels = table.shape[1]
        self._kept: list[NDArray[Any]] = [
            np.ascontiguousarray(table),
            np.array(field_weights, np.float64),
            np.array(word_lengths, np.int32),
            np.array(char_lengths, np.int32),
        ]
        pointers = [array.ctypes.data for array in self._kept]
        sizes = (bits, self.labels, len(field_weights), len(word_lengths), len(char_lengths))
        self._model = _Ngrams(*pointers, *sizes)
        self._at = ctypes.addressof(self._model)

    def scores(self, rows: Sequence[Sequence[str]], spaced: Callable[[str], str] | None) -> NDArray[np.float64]:
        """The scores of each row of texts, the first field last; more texts than there are fields are not read.

        Plain texts are tokenised in C, the others by `spaced`, which puts single spaces between tokens; without it, all
        texts are tokenised already.
        """
        texts = list(chain.from_iterable(rows))
        if spaced is None:
            plain = bytes(len(texts))
        else:
            plain = bytes(map(is_plain, texts))
            if 0 in plain:
                texts = [text if in_c else spaced(text) for text, in_c in zip(texts, plain, strict=True)]
        codes, starts = end_to_end(texts)
        first = offsets(map(len, rows), len(rows))
        scores = np.empty((len(rows), self.labels))
        inputs = (codes, starts.ctypes.data, plain, first.ctypes.data)
        if self._library.emoscope_ngram_scores(self._at, *inputs, len(rows), scores.ctypes.data):
            raise MemoryError
        return scores
