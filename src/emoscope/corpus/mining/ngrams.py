"""Vectors without a model: hashed character n-grams of the last turn."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.core.text import normalise_text

WIDTH = 256
SIZES = (3, 4, 5)
_BASE = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BATCH = 2048  # texts summed at a time, in double precision


class NgramEmbedder:
    """Each n-gram adds or subtracts 1 in the dimension given by its hash: a random projection without a table.

    Texts are similar if they share n-grams. Emoji and emoticons are replaced by their names.

    >>> one, same, other = NgramEmbedder().vectors([Dialogue.of([text]) for text in ("so sad", "so SAD", "hello")])
    >>> bool((one == same).all()), bool((one == other).all())
    (True, False)
    """

    name = f"ngrams-{WIDTH}-{'-'.join(map(str, SIZES))}"

    def vectors(self, dialogues: Sequence[Dialogue]) -> NDArray[np.float32]:
        """A row for each dialogue, from its last turn only, since n-grams of earlier turns say little about it."""
        texts = [f" {normalise_text(dialogue.turns[-1].text, lowercase=True)} " for dialogue in dialogues]
        vectors = np.empty((len(texts), WIDTH), np.float32)
        for first in range(0, len(texts), _BATCH):
            part = texts[first : first + _BATCH]
            vectors[first : first + len(part)] = _sums(part)
        return vectors


def _sums(texts: Sequence[str]) -> NDArray[np.float64]:
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    total = np.zeros(len(texts) * WIDTH)
    for size in SIZES:
        hashes = np.full(max(len(codes) - size + 1, 0), size, np.uint64)
        for offset in range(size):
            hashes = hashes * _BASE + codes[offset : offset + len(hashes)]
        for _ in range(2):  # so that the low bits (the dimension) and bit 40 (the sign) depend on every character
            hashes = (hashes ^ (hashes >> np.uint64(29))) * _MIX
            hashes ^= hashes >> np.uint64(32)
        # Drop n-grams that span two texts.
        own = owner[: len(hashes)] == owner[size - 1 :][: len(hashes)]
        hashes, rows = hashes[own], owner[: len(hashes)][own]
        signs = np.where((hashes >> np.uint64(40)) & np.uint64(1), 1.0, -1.0)
        places = rows * WIDTH + (hashes % np.uint64(WIDTH)).astype(np.int64)
        total += np.bincount(places, weights=signs, minlength=len(total))
    return total.reshape(len(texts), WIDTH)
