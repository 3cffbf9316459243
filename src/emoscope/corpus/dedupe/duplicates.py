"""Exact and near copies, found among any items: dialogues, splits of a corpus, texts and their back-translations."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emoscope.corpus.dedupe.minhash import BANDS, ROWS, jaccard, shared_buckets, shingles, signatures
from emoscope.parallel import SERIAL, Executor
from emoscope.parallel.parts import batches

THRESHOLD = 0.8
_BATCH = 2048
_PART = 32_768  # texts that one process signs: half a second, for a process takes longer than that to start
# An estimate from 100 numbers is off by more than this once in a thousand pairs; what passes is compared exactly.
_SLACK = 0.15
# A bucket fuller than this tells little (a greeting that thousands of dialogues begin with), and going through all of
# it would take time that grows with the square of the corpus; a near copy shares several other buckets.
_CROWDED = 256
_COMPARED = 32  # so many candidates at most are compared exactly, the likeliest first
_RUN = re.compile(r"(.)\1{2,}")


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An item that is a copy of an earlier one; a similarity of 1 is an exact copy."""

    item: int
    of: int
    similarity: float

    @property
    def exact(self) -> bool:
        """Whether the two differ in nothing but case, white space and how long a letter is held."""
        return self.similarity == 1.0


def comparable(text: str) -> str:
    """The text as it is compared: white space and case folded, stretched letters and marks reduced to two.

    >>> comparable("  Sooooo   GOOD!!!!")
    'soo good!!'
    """
    return _RUN.sub(r"\1\1", " ".join(text.casefold().split()))


class DuplicateFinder:
    """Takes texts, each with the number of the item it belongs to; then tells which items are copies of earlier ones.

    >>> finder = DuplicateFinder()
    >>> for item, text in enumerate(["how are you today?", "How are you  today??", "fine"]):
    ...     finder.add(item, text)
    >>> [(copy.item, copy.of) for copy in finder.duplicates()]
    [(1, 0)]
    """

    def __init__(self, *, threshold: float = THRESHOLD, spread: Executor = SERIAL) -> None:
        self.threshold = threshold
        self._spread = spread  # who signs texts; which are copies is decided here, one after the other
        self._numbers: dict[str, int] = {}
        self._texts_of: dict[int, list[int]] = {}

    def add(self, item: int, text: str) -> None:
        """Take one more text of an item."""
        number = self._numbers.setdefault(comparable(text), len(self._numbers))
        mine = self._texts_of.setdefault(item, [])
        if number not in mine:
            mine.append(number)

    def _near(self) -> "_NearTexts | None":
        if self.threshold == 1:
            return None
        texts = list(self._numbers)
        signed = list(self._spread.map(_signed, batches(texts, _PART)))
        return _NearTexts(texts, np.concatenate(signed) if signed else signatures([]), self.threshold)

    def duplicates(self) -> Iterator[Duplicate]:
        """The items to drop, from the smallest number on: copies of items with a smaller number that are not dropped.

        An item of several texts is a copy if any of them is one; texts of one item are never compared.
        """
        near = self._near()
        holder: dict[int, int] = {}  # which item that is not dropped holds a text
        for item in sorted(self._texts_of):
            mine = self._texts_of[item]
            copy = next((Duplicate(item, holder[text], 1.0) for text in mine if text in holder), None)
            if copy is None and near is not None:
                found = (match for text in mine if (match := near.match(text)) is not None)
                copy = next((Duplicate(item, holder[text], similarity) for text, similarity in found), None)
            if copy is not None:
                yield copy
                continue
            for text in mine:
                holder[text] = item
                if near is not None:
                    near.keep(text)

    def related(self) -> Iterator[tuple[int, int]]:
        """Pairs of items that are copies, exact or near; whoever puts each pair together parts no copies.

        >>> finder = DuplicateFinder()
        >>> for item, text in enumerate(["how are you today?", "fine", "How are you  today??"]):
        ...     finder.add(item, text)
        >>> list(finder.related())
        [(2, 0)]
        """
        near = self._near()
        holder: dict[int, int] = {}
        for item in sorted(self._texts_of):
            others: dict[int, None] = {}
            for text in self._texts_of[item]:
                if text in holder:  # whatever is near to the text is tied to its first holder already
                    others[holder[text]] = None
                    continue
                others.update((holder[match], None) for match, _ in (near.matches(text) if near is not None else ()))
                holder[text] = item
                if near is not None:
                    near.keep(text)
            yield from ((item, other) for other in others if other != item)


def _signed(texts: Sequence[str]) -> NDArray[np.uint32]:
    """The signatures of many texts, made from a few at a time: on the way they take much more memory."""
    return np.concatenate([signatures(part) for part in batches(texts, _BATCH)])


class _NearTexts:
    """The texts that are kept so far, in the buckets where a near copy would lie, too."""

    def __init__(self, texts: list[str], found: NDArray[np.uint32], threshold: float) -> None:
        self._texts = texts
        self._signatures = found
        self._threshold = threshold
        self._buckets = shared_buckets(self._signatures)
        self._kept: dict[int, list[int]] = {}
        self._alone: list[bool] = np.all(self._buckets < 0, axis=1).tolist()

    def _shared(self, text: int) -> list[int]:
        return [bucket for bucket in self._buckets[text].tolist() if bucket >= 0]

    def keep(self, text: int) -> None:
        if not self._alone[text]:
            for bucket in self._shared(text):
                members = self._kept.setdefault(bucket, [])
                if len(members) < _CROWDED:
                    members.append(text)

    def match(self, text: int) -> tuple[int, float] | None:
        """The kept text that is most like this one, if it is like enough; the first of several."""
        return max(self.matches(text), key=lambda match: match[1], default=None)

    def matches(self, text: int) -> Iterator[tuple[int, float]]:
        """The kept texts that are like this one, likeliest first, and how much."""
        if self._alone[text]:
            return
        candidates = sorted({other for bucket in self._shared(text) for other in self._kept.get(bucket, ())})
        if not candidates:
            return
        agreeing = (self._signatures[candidates] == self._signatures[text]).sum(axis=1) / (BANDS * ROWS)
        mine = shingles(self._texts[text])
        likeliest = np.argsort(-agreeing, kind="stable")[:_COMPARED]
        for place in likeliest[agreeing[likeliest] >= self._threshold - _SLACK].tolist():
            other = candidates[place]
            # Texts that differ may share all their n-grams ("hahaha", "hahahaha"); 1 is for exact copies.
            similarity = min(jaccard(mine, shingles(self._texts[other])), 1.0 - 1e-6)
            if similarity >= self._threshold:
                yield other, similarity


def find_duplicates(items: Iterable[str | Sequence[str]], *, threshold: float = THRESHOLD) -> list[Duplicate]:
    """The items that are copies of earlier ones; an item is a text, or a text and its back-translations.

    >>> find_duplicates(["see you at nine tomorrow", ("bis morgen", "See you at nine tomorrow"), "no"])
    [Duplicate(item=1, of=0, similarity=1.0)]
    """
    finder = DuplicateFinder(threshold=threshold)
    for number, item in enumerate(items):
        for text in (item,) if isinstance(item, str) else item:
            finder.add(number, text)
    return list(finder.duplicates())
