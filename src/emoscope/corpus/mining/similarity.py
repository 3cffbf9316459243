"""Similarity of dialogues to the seeds of each class: the mean cosine to the nearest ten.

The single nearest seed may be an outlier: of a few hundred, some show hardly any emotion. usearch compares every vector
with every seed in integer arithmetic, so the search is exact, needs no index, and gives the same result on any machine
and with any number of threads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.corpus.mining.vectors import Bytes

NEIGHBOURS = 10
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SeedVectors:
    """The seeds of each class, and counterexamples, if any.

    A vector's score for a class is its similarity to the class's seeds minus its similarity to the counterexamples.
    """

    classes: Mapping[str, Bytes]
    others: Bytes | None = None
    neighbours: int = NEIGHBOURS

    def __post_init__(self) -> None:
        for name, vectors in self.classes.items():
            if len(vectors) < 2:
                raise EmoscopeError(f"class {name}: expected at least 2 seeds, found {len(vectors)}")

    def scores(self, vectors: Bytes) -> Floats:
        """A row for each vector and a column for each class.

        >>> seeds = SeedVectors({"sad": np.array([[1, 0], [2, 0]], np.int8), "happy": np.array([[0, 5]] * 2, np.int8)})
        >>> seeds.scores(np.array([[3, 0]], np.int8)).round(2).tolist()
        [[1.0, 0.0]]
        """
        columns = [nearest(seeds, vectors, self.neighbours).mean(axis=1) for seeds in self.classes.values()]
        return np.stack(columns, axis=1) - self._near_others(vectors)[:, None]

    def cosines(self, vectors: Bytes) -> Floats:
        """The plain cosine to the nearest seed of each class; counterexamples do not count.

        >>> seeds = SeedVectors({"sad": np.array([[1, 0], [0, 1]], np.int8)}, others=np.array([[1, 0]], np.int8))
        >>> seeds.cosines(np.array([[3, 0]], np.int8)).round(2).tolist()
        [[1.0]]
        """
        return np.concatenate([nearest(seeds, vectors, 1) for seeds in self.classes.values()], axis=1)

    def cosine_threshold(self, name: str, recall: float) -> float:
        """The cosine to the nearest other seed that this share of the class's seeds reach."""
        seeds = self.classes[name]
        return float(np.quantile(nearest(seeds, seeds, 2)[:, 1], 1 - recall))

    def threshold(self, name: str, recall: float) -> float:
        """The score that this share of the class's seeds reach when compared with each other."""
        return float(np.quantile(self.own_scores(name), 1 - recall))

    def own_scores(self, name: str) -> Floats:
        """The scores of a class's seeds, each compared with the others."""
        seeds = self.classes[name]
        # The nearest is the seed itself or a duplicate.
        own = nearest(seeds, seeds, self.neighbours + 1)[:, 1:].mean(axis=1)
        return np.asarray(own - self._near_others(seeds))

    def _near_others(self, vectors: Bytes) -> Floats:
        if self.others is None:
            return np.zeros(len(vectors), np.float32)
        return np.asarray(nearest(self.others, vectors, self.neighbours).mean(axis=1))


def nearest(seeds: Bytes, vectors: Bytes, count: int) -> Floats:
    """The cosines to the nearest `count` seeds, or to all if there are fewer; a row per vector, nearest first.

    >>> nearest(np.array([[1, 0], [0, 1]], np.int8), np.array([[0, 3]], np.int8), 2).round(2).tolist()
    [[1.0, 0.0]]
    """
    usearch = load_usearch()
    count = min(count, len(seeds))
    # One thread: callers spread the vectors over processes.
    matches = usearch.search(seeds, vectors, count, usearch.MetricKind.Cos, exact=True, threads=1)
    distances = np.asarray(matches.distances, np.float32).reshape(len(vectors), count)
    # A zero vector has no direction, so it is close to nothing.
    directed = np.abs(vectors).max(axis=1, keepdims=True) > 0
    return np.where(directed, 1 - distances, 0).astype(np.float32)


def load_usearch() -> ModuleType:
    """The module `usearch.index`, or an error that says how to install it."""
    # onnxruntime 1.31 crashes the process when it is loaded after usearch 2.26; the other way round both work.
    import_module("onnxruntime")
    return require("usearch.index", extra="corpus")
