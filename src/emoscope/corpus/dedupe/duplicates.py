"""Exact and near copies among items of one or more texts, such as dialogues and their back-translations."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emoscope.corpus.dedupe.minhash import BANDS, ROWS, jaccard, shared_buckets, shingles, signatures
from emoscope.parallel import SERIAL, Executor
from emoscope.parallel.parts import batches

THRESHOLD = 0.8
_BATCH = 2048
_PART = 32_768  # texts per process: half a second of work
# An estimate from 100 numbers is off by more than this in one of a thousand pairs; the rest is compared exactly.
_SLACK = 0.15
# A fuller bucket says little (a greeting that thousands of dialogues begin with), and going through it would take time
# quadratic in the size of the corpus; a near copy shares several other buckets.
_CROWDED = 256
_COMPARED = 32  # the most candidates compared exactly, the likeliest first
_RUN = re.compile(r"(.)\1{2,}")


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An item that is a copy of an earlier one; a similarity of 1 is an exact copy."""

    item: int
    of: int
    similarity: float

    @property
    def exact(self) -> bool:
        """Whether the two differ only in case, white space and stretched letters."""
        return self.similarity == 1.0


def comparable(text: str) -> str:
    """The text as it is compared: case and white space folded, letters and marks repeated at most twice.

    >>> comparable("  Sooooo   GOOD!!!!")
    'soo good!!'
    """
    return _RUN.sub(r"\1\1", " ".join(text.casefold().split()))


class DuplicateFinder:
    """Collects the texts of numbered items, then finds the items that are copies of earlier ones.

    >>> finder = DuplicateFinder()
    >>> for item, text in enumerate(["how are you today?", "How are you  today??", "fine"]):
    ...     finder.add(item, text)
    >>> [(copy.item, copy.of) for copy in finder.duplicates()]
    [(1, 0)]
    """

    def __init__(self, *, threshold: float = THRESHOLD, executor: Executor = SERIAL) -> None:
        self.threshold = threshold
        self._executor = executor  # for signatures only; copies are decided here, in order
        self._numbers: dict[str, int] = {}
        self._texts_of: dict[int, list[int]] = {}

    def add(self, item: int, text: str) -> None:
        number = self._numbers.setdefault(comparable(text), len(self._numbers))
        texts = self._texts_of.setdefault(item, [])
        if number not in texts:
            texts.append(number)

    def _near(self) -> "_NearTexts":
        texts = list(self._numbers)
        compared = texts if self.threshold < 1 else []
        signed = [signatures([]), *self._executor.map(_signed, batches(compared, _PART))]
        return _NearTexts(texts, np.concatenate(signed), self.threshold)

    def duplicates(self) -> Iterator[Duplicate]:
        """The items to drop, in ascending order: copies of items with a smaller number that are not dropped.

        An item is a copy if any of its texts is one; texts of one item are never compared with each other.
        """
        near = self._near()
        holder: dict[int, int] = {}  # the item that is kept for each text
        for item, texts in sorted(self._texts_of.items()):
            copy = next((Duplicate(item, holder[text], 1.0) for text in texts if text in holder), None)
            if copy is None:
                matches = (match for text in texts if (match := near.match(text)) is not None)
                copy = next((Duplicate(item, holder[text], similarity) for text, similarity in matches), None)
            if copy is not None:
                yield copy
                continue
            for text in texts:
                holder[text] = item
                near.keep(text)

    def related(self) -> Iterator[tuple[int, int]]:
        """Pairs of items that are copies, exact or near; joining each pair keeps all copies together.

        >>> finder = DuplicateFinder()
        >>> for item, text in enumerate(["how are you today?", "fine", "How are you  today??"]):
        ...     finder.add(item, text)
        >>> list(finder.related())
        [(2, 0)]
        """
        near = self._near()
        holder: dict[int, int] = {}
        for item, texts in sorted(self._texts_of.items()):
            others: dict[int, None] = {}
            for text in texts:
                if text in holder:  # what is near to the text is paired with its first holder already
                    others[holder[text]] = None
                    continue
                others.update((holder[match], None) for match, _ in near.matches(text))
                holder[text] = item
                near.keep(text)
            yield from ((item, other) for other in others if other != item)


def _signed(texts: Sequence[str]) -> NDArray[np.uint32]:
    """The signatures of many texts, a batch at a time, because computing them takes much more memory."""
    return np.concatenate([signatures(part) for part in batches(texts, _BATCH)])


class _NearTexts:
    """The texts kept so far, in the buckets that near copies would share."""

    def __init__(self, texts: list[str], signed: NDArray[np.uint32], threshold: float) -> None:
        self._texts = texts
        self._signatures = signed
        self._threshold = threshold
        self._buckets = shared_buckets(self._signatures)
        self._kept: dict[int, list[int]] = {}
        # Without signatures every text is alone: only exact copies are looked for.
        self._alone: list[bool] = np.all(self._buckets < 0, axis=1).tolist() if len(signed) else [True] * len(texts)

    def _shared(self, text: int) -> list[int]:
        return [] if self._alone[text] else [bucket for bucket in self._buckets[text].tolist() if bucket >= 0]

    def keep(self, text: int) -> None:
        for bucket in self._shared(text):
            members = self._kept.setdefault(bucket, [])
            if len(members) < _CROWDED:
                members.append(text)

    def match(self, text: int) -> tuple[int, float] | None:
        """The most similar kept text at or above the threshold, the first of several."""
        return max(self.matches(text), key=lambda match: match[1], default=None)

    def matches(self, text: int) -> Iterator[tuple[int, float]]:
        """The kept texts at or above the threshold with their similarity, the likeliest first."""
        candidates = sorted({other for bucket in self._shared(text) for other in self._kept.get(bucket, ())})
        if not candidates:
            return
        agreeing = (self._signatures[candidates] == self._signatures[text]).sum(axis=1) / (BANDS * ROWS)
        own = shingles(self._texts[text])
        likeliest = np.argsort(-agreeing, kind="stable")[:_COMPARED]
        for place in likeliest[agreeing[likeliest] >= self._threshold - _SLACK].tolist():
            other = candidates[place]
            # Different texts may share all n-grams ("hahaha", "hahahaha"); 1 is for exact copies.
            similarity = min(jaccard(own, shingles(self._texts[other])), 1.0 - 1e-6)
            if similarity >= self._threshold:
                yield other, similarity
