"""Which dialogues judges are to see: numbers in, places in the pool out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.corpus.mining.pruning import Reason

NONE = -1


@dataclass(slots=True)
class ClassCounts:
    """One class: its seeds, the score asked for, who reached it, who was dropped and why, and who is shown."""

    seeds: int
    threshold: float
    thresholds: Mapping[float, float] = field(default_factory=dict)  # what other shares of the class would ask for
    near: int = 0
    dropped: Counter[Reason] = field(default_factory=Counter)
    candidates: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "seeds": self.seeds,
            "threshold": round(self.threshold, 6),
            "threshold_at_recall": {str(recall): round(value, 6) for recall, value in self.thresholds.items()},
            "near": self.near,
            "dropped": {reason.value: self.dropped[reason] for reason in Reason},
            "candidates": self.candidates,
        }


@dataclass(frozen=True, slots=True)
class Nearness:
    """For each dialogue of the pool the class with the highest score (`NONE` below its threshold), and that score."""

    classes: NDArray[np.int16]
    score: NDArray[np.float32]

    @classmethod
    def of(cls, scores: NDArray[np.float32], thresholds: Sequence[float]) -> "Nearness":
        """From a row of scores for each dialogue, and what is asked for in each column.

        >>> found = Nearness.of(np.array([[0.5, 0.75], [0.5, 0.25]], np.float32), [0.6, 0.6])
        >>> found.classes.tolist(), found.score.tolist()
        ([1, -1], [0.75, 0.5])
        """
        classes = scores.argmax(axis=1).astype(np.int16)
        best = scores.max(axis=1)
        classes[best < np.array(thresholds, np.float32)[classes]] = NONE
        return cls(classes, best)

    def best(self, rows: NDArray[np.int64], count: int | None) -> NDArray[np.int64]:
        """Of these rows, so many with the highest score, or all; where scores are equal, the first in the pool."""
        return rows[np.lexsort((rows, -self.score[rows]))][:count]


def drawn(free: NDArray[np.int64], count: int, *, seed: int) -> NDArray[np.int64]:
    """So many of the rows, at random, or all if there are fewer.

    >>> drawn(np.arange(3), 5, seed=1).tolist()
    [0, 1, 2]
    """
    chosen = np.random.default_rng(seed).choice(free, size=min(count, len(free)), replace=False)
    return np.sort(chosen)
