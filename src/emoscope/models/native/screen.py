"""Messages that are sure to get no note, found by `screen.c`: most are, and need no look by Python."""

import ctypes
from collections.abc import Collection, Sequence
from itertools import accumulate

import numpy as np

from emoscope.models.native.library import library

ENGLISH, FOREIGN, HARM = 1, 2, 4


class _Screen(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("words", "phrases")),
        *((name, ctypes.c_int32) for name in ("bits", "phrase_count")),
    )


class NativeScreen:
    """Common words of English and of other languages, and words and phrases of self-harm; safe to use from threads."""

    def __init__(
        self, *, english: Collection[str], foreign: Collection[str], harm: Collection[str], phrases: Sequence[str]
    ) -> None:
        self._library = library()
        lists = ((ENGLISH, english), (FOREIGN, foreign), (HARM, harm))
        bits = (2 * sum(len(words) for _, words in lists)).bit_length()
        self._words = np.zeros(1 << bits, np.uint64)
        self._phrases = b"".join(phrase.encode() + b"\0" for phrase in phrases)
        phrases_at = ctypes.cast(ctypes.c_char_p(self._phrases), ctypes.c_void_p)
        self._screen = _Screen(self._words.ctypes.data, phrases_at, bits, len(phrases))
        self._at = ctypes.addressof(self._screen)
        for kind, words in lists:
            listed = "".join(f"{word}\n" for word in words).encode()
            self._library.emoscope_screen_add(self._at, listed, len(listed), kind)

    def clear(self, texts: Sequence[str]) -> bytes:
        """A byte for each text: 1 if it is sure that neither its language nor self-harm is to be noted, else 0."""
        plain = [text if text.isascii() else _UNSURE for text in texts]
        starts = np.fromiter(accumulate(map(len, plain), initial=0), np.int64, len(plain) + 1)
        clear = ctypes.create_string_buffer(len(plain))
        self._library.emoscope_screen(self._at, "".join(plain).encode(), starts.ctypes.data, len(plain), clear)
        return clear.raw


_UNSURE = "aaa"
