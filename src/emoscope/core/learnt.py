"""The items a model learnt from, so that its score on them is never mistaken for a test score.

An item is the labelled turn with the turns before it. Its fingerprint is 48 bits of a hash of its letters and digits:
with a million items learnt, the chance that a new item collides is 1 in 280 million. Items of fewer than five words in
all ("thank you") are too common to count.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from emoscope.core.arrays import open_arrays, save_arrays
from emoscope.core.dialogue import Example

FILE = "learnt.npz"
BYTES = 6
COMMON = 0  # the fingerprint of items too short to count
MIN_WORDS = 5
# The tasks' own splits share up to 0.6 % of their items by coincidence.
BY_CHANCE = 0.02
_NOT_A_WORD = re.compile(r"[\W_]+")

Fingerprints = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many of a set of items a model learnt.

    >>> Overlap(990, 1000).is_learnt, Overlap(5, 1000).is_learnt
    (True, False)
    """

    items: int
    of: int

    @property
    def is_learnt(self) -> bool:
        """Whether the overlap exceeds chance, so that a score on these items says nothing about new ones."""
        return self.items > BY_CHANCE * self.of

    def __str__(self) -> str:
        return f"{self.items:,} of {self.of:,} items"


@dataclass(frozen=True, slots=True, eq=False)
class LearntItems:
    """The items a model learnt, itself or through its teachers: their fingerprints, and the size of each source.

    >>> from emoscope.core.dialogue import Dialogue
    >>> lost, found = (
    ...     Example(Dialogue.of([text]), 0, "sad") for text in ("I lost my keys today", "I found them in the car")
    ... )
    >>> LearntItems.of({"ours": [lost]}).overlap([lost, found])
    Overlap(items=1, of=2)
    """

    sources: Mapping[str, int] = field(default_factory=dict)
    fingerprints: Fingerprints = field(default_factory=lambda: np.zeros(0, np.uint64))  # sorted, each once

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))

    @classmethod
    def of(cls, sources: Mapping[str, Iterable[Example]]) -> "LearntItems":
        """Record what was learnt from each source.

        Only labelled examples without an `origin` get a fingerprint. Text without a gold label, such as text labelled
        by a teacher, only adds to the count of its source.
        """
        listed = {name: list(examples) for name, examples in sources.items()}
        labelled = (e for examples in listed.values() for e in examples if e.label is not None and e.origin is None)
        items = fingerprints(labelled)
        return cls({name: len(examples) for name, examples in listed.items()}, np.unique(items[items != COMMON]))

    def __or__(self, other: "LearntItems") -> "LearntItems":
        """The union of both; a source in both keeps the larger count."""
        both = dict(self.sources)
        for name, count in other.sources.items():
            both[name] = max(count, both.get(name, 0))
        return LearntItems(both, np.union1d(self.fingerprints, other.fingerprints))

    def __len__(self) -> int:
        return len(self.fingerprints)

    def known(self, examples: Iterable[Example]) -> NDArray[np.bool_]:
        """Which of the examples were learnt."""
        items = fingerprints(examples)
        if not len(self.fingerprints):
            return np.zeros(len(items), bool)
        # Our fingerprints are sorted, so use binary search; `np.isin` would sort both again.
        places = np.minimum(np.searchsorted(self.fingerprints, items), len(self.fingerprints) - 1)
        return np.asarray(self.fingerprints[places] == items)

    def overlap(self, examples: Iterable[Example]) -> Overlap:
        """How many of the examples were learnt."""
        learnt = self.known(examples)
        return Overlap(int(learnt.sum()), len(learnt))

    def save(self, folder: Path) -> None:
        """Write `learnt.npz` atomically."""
        names, counts = np.array(list(self.sources), str), np.array(list(self.sources.values()), int)
        save_arrays(folder / FILE, {"steps": pack(self.fingerprints), "names": names, "counts": counts})

    @classmethod
    def load(cls, folder: Path) -> "LearntItems | None":
        """Read `learnt.npz`; None for a model that predates this record."""
        path = folder / FILE
        if not path.is_file():
            return None
        with open_arrays(path, "a record of what a model learnt") as arrays:
            items = unpack(arrays["steps"])
            sources = dict(zip(arrays["names"].tolist(), arrays["counts"].tolist(), strict=True))
        return cls(sources, items)


def pack(items: Fingerprints) -> NDArray[np.uint8]:
    """Sorted fingerprints as an array that compresses well; delta coding and byte planes make it four bytes per item.

    >>> unpack(pack(np.array([3, 700], np.uint64))).tolist()
    [3, 700]
    """
    steps = np.diff(items, prepend=np.uint64(0)).astype(">u8")
    return np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 8).T[8 - BYTES :])


def unpack(planes: NDArray[np.uint8]) -> Fingerprints:
    """Undo `pack`."""
    steps = np.zeros((planes.shape[1], 8), np.uint8)
    steps[:, 8 - BYTES :] = planes.T
    return np.cumsum(steps.view(">u8").ravel(), dtype=np.uint64)


def fingerprints(examples: Iterable[Example]) -> Fingerprints:
    """A fingerprint for each example; case, spaces and punctuation do not matter.

    >>> from emoscope.core.dialogue import Dialogue
    >>> texts = ("So glad that you came!", "so  glad that you came")
    >>> one, other = fingerprints(Example(Dialogue.of([text]), 0) for text in texts)
    >>> bool(one == other)
    True
    """
    return np.fromiter(map(_fingerprint, examples), np.uint64)


def _fingerprint(example: Example) -> int:
    texts = example.dialogue.texts[: example.turn + 1]
    if sum(len(text.split()) for text in texts) < MIN_WORDS:
        return COMMON
    folded = [normalize("NFKC", text).casefold() for text in texts]
    # Editions of a corpus differ in spaces and punctuation, but some turns consist of nothing else (":-)").
    letters = [_NOT_A_WORD.sub("", text) or "".join(text.split()) for text in folded]
    return int.from_bytes(blake2b("\x1f".join(letters).encode("utf-8", "replace"), digest_size=BYTES).digest())
