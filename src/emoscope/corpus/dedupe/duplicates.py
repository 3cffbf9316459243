"""Exact and near duplicates among items of one or more texts, such as dialogues and their back-translations."""

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
# An estimate from 100 hashes is off by more than this for one pair in a thousand; the rest are compared exactly.
_SLACK = 0.15
# A larger bucket says little (a greeting that starts thousands of dialogues), and scanning it would take time quadratic
# in the size of the corpus; near duplicates share several other buckets.
_CROWDED = 256
_COMPARED = 32  # most candidates compared exactly, likeliest first
_RUN = re.compile(r"(.)\1{2,}")


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An item that duplicates an earlier one; a similarity of 1 is an exact duplicate."""

    item: int
    of: int
    similarity: float

    @property
    def exact(self) -> bool:
        """Whether the two differ only in case, white space and repeated characters."""
        return self.similarity == 1.0


def comparable(text: str) -> str:
    """Normalise a text for comparison: fold case and white space, and cut repeated characters to two.

    >>> comparable("  Sooooo   GOOD!!!!")
    'soo good!!'
    """
    return _RUN.sub(r"\1\1", " ".join(text.casefold().split()))


class DuplicateFinder:
    """Collects the texts of numbered items, then finds the items that duplicate earlier ones.

    >>> finder = DuplicateFinder()
    >>> for item, text in enumerate(["how are you today?", "How are you  today??", "fine"]):
    ...     finder.add(item, text)
    >>> [(copy.item, copy.of) for copy in finder.duplicates()]
    [(1, 0)]
    """

    def __init__(self, *, threshold: float = THRESHOLD, executor: Executor = SERIAL) -> None:
        self.threshold = threshold
        self._executor = executor  # for signatures only; duplicates are decided in this process, in order
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
        """The items to drop, in ascending order: duplicates of earlier items that are kept.

        An item is a duplicate if any of its texts is; texts of the same item are never compared.
        """
        near = self._near()
        holder: dict[int, int] = {}  # the item kept for each text
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
        """Pairs of exact or near duplicates; joining each pair groups all duplicates.

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
                if text in holder:  # near duplicates of the text are already paired with its first holder
                    others[holder[text]] = None
                    continue
                others.update((holder[match], None) for match, _ in near.matches(text))
                holder[text] = item
                near.keep(text)
            yield from ((item, other) for other in others if other != item)


def _signed(texts: Sequence[str]) -> NDArray[np.uint32]:
    """Compute signatures in batches, because that takes much more memory than the result."""
    return np.concatenate([signatures(part) for part in batches(texts, _BATCH)])


class _NearTexts:
    """The texts kept so far, in LSH buckets."""

    def __init__(self, texts: list[str], signed: NDArray[np.uint32], threshold: float) -> None:
        self._texts = texts
        self._signatures = signed
        self._threshold = threshold
        self._buckets = shared_buckets(self._signatures)
        self._kept: dict[int, list[int]] = {}
        # Without signatures no text shares a bucket: only exact duplicates are found.
        self._alone: list[bool] = np.all(self._buckets < 0, axis=1).tolist() if len(signed) else [True] * len(texts)

    def _shared(self, text: int) -> list[int]:
        return [] if self._alone[text] else [bucket for bucket in self._buckets[text].tolist() if bucket >= 0]

    def keep(self, text: int) -> None:
        for bucket in self._shared(text):
            members = self._kept.setdefault(bucket, [])
            if len(members) < _CROWDED:
                members.append(text)

    def match(self, text: int) -> tuple[int, float] | None:
        """The most similar kept text at or above the threshold; the first of equals."""
        return max(self.matches(text), key=lambda match: match[1], default=None)

    def matches(self, text: int) -> Iterator[tuple[int, float]]:
        """The kept texts at or above the threshold with their similarity, likeliest first."""
        candidates = sorted({other for bucket in self._shared(text) for other in self._kept.get(bucket, ())})
        if not candidates:
            return
        agreeing = (self._signatures[candidates] == self._signatures[text]).sum(axis=1) / (BANDS * ROWS)
        own = shingles(self._texts[text])
        likeliest = np.argsort(-agreeing, kind="stable")[:_COMPARED]
        for place in likeliest[agreeing[likeliest] >= self._threshold - _SLACK].tolist():
            other = candidates[place]
            # Different texts may share all n-grams ("hahaha", "hahahaha"); 1 is reserved for exact duplicates.
            similarity = min(jaccard(own, shingles(self._texts[other])), 1.0 - 1e-6)
            if similarity >= self._threshold:
                yield other, similarity
