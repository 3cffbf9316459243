"""Hashed word and character n-grams of many texts at once, with numpy alone.

All texts lie end to end in one array of code points. The hash of any stretch is the difference of two prefix sums of
`code * P**position`, shifted to position zero by the inverse of P (odd, hence invertible modulo 2**64). So a few array
operations hash every n-gram of a batch, and no n-gram depends on the other texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
_SPACE = 32


@dataclass(frozen=True, slots=True)
class Channel:
    """One kind of n-gram: words or characters, of one length."""

    kind: Literal["word", "char"]
    length: int


@dataclass(frozen=True, slots=True)
class HashedTexts:
    """The buckets of one channel: one entry per character position, `empty` where no n-gram starts there.

    `starts` says where each text begins. The entries of a text do not depend on the other texts of the batch.
    """

    buckets: NDArray[np.int64]
    starts: NDArray[np.int64]
    empty: int


def hash_ngrams(
    texts: Sequence[str], channels: Sequence[Channel], *, bits: int, salts: Sequence[int]
) -> list[HashedTexts]:
    """The n-grams of texts whose tokens are separated by single spaces, as bucket numbers below `2**bits`.

    A salt per text distinguishes the same word in different roles (last turn, turn before).

    >>> hashed = hash_ngrams(["so happy", "so sad"], [Channel("word", 1)], bits=8, salts=[0, 0])[0]
    >>> first, second = (hashed.buckets[start] != hashed.empty for start in hashed.starts)
    >>> so = hashed.buckets[hashed.buckets != hashed.empty]
    >>> len(so), bool(so[0] == so[2])
    (4, True)
    """
    lengths = np.fromiter((len(text) + 2 for text in texts), np.int64, len(texts))
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    joined = " " + "  ".join(texts) + " "
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    size = len(codes)
    back = _powers(_INVERSE, size)
    prefix = np.zeros(size + 1, np.uint64)
    np.cumsum(codes * _powers(_BASE, size), out=prefix[1:])
    rows = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    text_salts = _mix((np.asarray(salts, np.uint64) + np.uint64(1)) * np.uint64(_BASE))
    space = codes == _SPACE
    word_starts = np.flatnonzero(space[:-1] & ~space[1:]) + 1
    word_ends = np.flatnonzero(~space[:-1] & space[1:]) + 1
    empty = 1 << bits
    hashed = []
    for channel in channels:
        if channel.kind == "char":
            first = np.arange(max(size - channel.length + 1, 0))
            last = first + channel.length
        else:
            kept = max(len(word_starts) - channel.length + 1, 0)
            first, last = word_starts[:kept], word_ends[len(word_ends) - kept :]
        within = rows[first] == rows[last - 1]
        first, last = first[within], last[within]
        # The channel's own salt, so that the word "so" and the characters "so" differ.
        kind_salt = np.uint64(channel.length * 2 + (channel.kind == "word"))
        values = _mix((prefix[last] - prefix[first]) * back[first] + text_salts[rows[first]] + kind_salt)
        buckets = np.full(size, empty, np.int64)
        buckets[first] = (values >> np.uint64(64 - bits)).astype(np.int64)
        hashed.append(HashedTexts(buckets, starts, empty))
    return hashed


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every input bit over all output bits (the finaliser of MurmurHash3)."""
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return values ^ (values >> np.uint64(33))
