"""Hashed n-grams' scores by `ngrams.c`, to the last bit those of numpy."""

import ctypes
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.models.native.library import library

LONGEST = 16  # characters of an n-gram


class _Ngrams(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("table", "field_weights", "word_lengths", "char_lengths")),
        *((name, ctypes.c_int32) for name in ("bits", "labels", "fields", "word_count", "char_count")),
    )


class NativeNgrams:
    """The sums of a table's rows for all n-grams of a row's texts; safe to use from many threads.

    For n-grams of at most `LONGEST` characters, and where the library is compiled.
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
        self.labels, self._fields = table.shape[1], len(field_weights)
        self._kept: list[NDArray[Any]] = [
            np.ascontiguousarray(table),
            np.array(field_weights, np.float64),
            np.array(word_lengths, np.int32),
            np.array(char_lengths, np.int32),
        ]
        places = [each.ctypes.data for each in self._kept]
        sizes = (bits, self.labels, self._fields, len(word_lengths), len(char_lengths))
        self._model = _Ngrams(*places, *sizes)
        self._at = ctypes.addressof(self._model)

    def scores(self, texts: Sequence[str], plain: bytes) -> NDArray[np.float64]:
        """A line of scores for each row of as many texts as there are fields.

        A text whose byte in `plain` is 1 is ASCII as it was written; others have their tokens between single spaces.
        """
        rows = len(texts) // self._fields
        codes = "".join(texts).encode("utf-32-le", "surrogatepass")
        starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
        made = np.empty((rows, self.labels))
        if self._library.emoscope_ngrams(self._at, codes, starts.ctypes.data, plain, rows, made.ctypes.data):
            raise MemoryError
        return made
