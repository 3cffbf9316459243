"""Finds messages that certainly get no note, with `screen.c`: most of them, which Python need not check."""

import ctypes
from collections.abc import Collection, Sequence

import numpy as np

from emoscope.models.native.library import fields, library
from emoscope.models.native.plain_text import end_to_end, is_plain

ENGLISH, FOREIGN, HARM = 1, 2, 4
IS_ENGLISH, HARMLESS = 1, 2


class _Screen(ctypes.Structure):
    _fields_ = fields(ctypes.c_void_p, "words phrases") + fields(ctypes.c_int32, "bits phrase_count")


class NativeScreen:
    """Common words of English and of other languages, and words and phrases of self-harm; safe to use from threads."""

    def __init__(
        self, *, english: Collection[str], foreign: Collection[str], harm: Collection[str], phrases: Sequence[str]
    ) -> None:
        self._library = library()
        lists = ((ENGLISH, english), (FOREIGN, foreign), (HARM, harm))
        bits = (2 * sum(len(words) for _, words in lists)).bit_length()
        self._words = np.zeros(1 << bits, np.uint64)
        self._phrases = b"".join(bytes((len(each), each.index(" "))) + each.encode() for each in phrases)
        phrases_at = ctypes.cast(ctypes.c_char_p(self._phrases), ctypes.c_void_p)
        self._screen = _Screen(self._words.ctypes.data, phrases_at, bits, len(phrases))
        self._at = ctypes.addressof(self._screen)
        for kind, words in lists:
            listed = "".join(f"{word}\n" for word in words).encode()
            self._library.emoscope_screen_add(self._at, listed, len(listed), kind)

    def sure(self, texts: Sequence[str]) -> bytes:
        """What is certain about each text: `IS_ENGLISH`, `HARMLESS`, both, or neither."""
        codes, starts = end_to_end([text if is_plain(text) else _UNSURE for text in texts])
        flags = ctypes.create_string_buffer(len(texts))
        self._library.emoscope_screen_texts(self._at, codes, starts.ctypes.data, len(texts), flags)
        return flags.raw


_UNSURE = "\0"
