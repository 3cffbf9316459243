"""Which dialogues of a pool to show to judges, given their scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NONE = -1


@dataclass(frozen=True, slots=True)
class Nearness:
    """For each dialogue of the pool the class with the highest score (`NONE` below its threshold), and that score."""

    classes: NDArray[np.int16]
    score: NDArray[np.float32]

    @classmethod
    def of(cls, scores: NDArray[np.float32], thresholds: Sequence[float]) -> "Nearness":
        """From a row of scores for each dialogue, and a threshold for each column.

        >>> nearness = Nearness.of(np.array([[0.5, 0.75], [0.5, 0.25]], np.float32), [0.6, 0.6])
        >>> nearness.classes.tolist(), nearness.score.tolist()
        ([1, -1], [0.75, 0.5])
        """
        classes = scores.argmax(axis=1).astype(np.int16)
        best = scores.max(axis=1)
        classes[best < np.array(thresholds, np.float32)[classes]] = NONE
        return cls(classes, best)

    def best(self, rows: NDArray[np.int64], count: int | None) -> NDArray[np.int64]:
        """The `count` rows with the highest scores, or all; equal scores in the order of the pool."""
        return rows[np.lexsort((rows, -self.score[rows]))][:count]


def sample_rows(rows: NDArray[np.int64], count: int, *, seed: int) -> NDArray[np.int64]:
    """Up to `count` of the rows, drawn at random.

    >>> sample_rows(np.arange(3), 5, seed=1).tolist()
    [0, 1, 2]
    """
    chosen = np.random.default_rng(seed).choice(rows, size=min(count, len(rows)), replace=False)
    return np.sort(chosen)
