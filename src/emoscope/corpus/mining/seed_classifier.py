"""A linear classifier of the seeds, combined with similarity to them.

Similarity captures individual wordings; a linear model captures what distinguishes all seeds of a class from the rest.
Their errors differ, so the two scores are added. Random dialogues from the pool serve as "no emotion": a few do have
one, but nobody has to judge them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.corpus.mining.embedder import unit_rows
from emoscope.corpus.mining.similarity import Floats, SeedVectors
from emoscope.corpus.mining.vectors import Bytes

BACKGROUND = 4_000  # pool dialogues used as "no emotion"
_PENALTY = 3.0
_FOLDS = 5
_DIGITS = 5  # weights and scores are rounded, so that the order of summation does not matter

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SeedClassifier:
    """The sum of similarity and a linear score, each divided by its standard deviation over the seeds."""

    near: SeedVectors
    weights: Doubles  # a row per dimension and one for the intercept, a column per class
    scales: tuple[float, float]
    own: Mapping[str, Doubles]  # held-out scores of each class's seeds

    @classmethod
    def fit(cls, near: SeedVectors, background: Bytes) -> "SeedClassifier":
        """Fit on the seeds and on background dialogues from the pool."""
        seeds = [*near.classes.values(), *([] if near.others is None else [near.others])]
        sizes = [len(vectors) for vectors in seeds]
        known = _directions(np.concatenate(seeds))
        targets = np.repeat([*range(len(near.classes)), *([] if near.others is None else [-1])], sizes)
        rest = _directions(background)
        weights = _fitted(known, targets, rest, len(near.classes))
        linear = np.empty((len(known), len(near.classes)))
        # Neighbours in the file are often similar, so every fifth seed is held out rather than a contiguous block.
        fold = np.arange(len(known)) % _FOLDS
        for number in range(_FOLDS):
            held_out = fold == number
            fitted = _fitted(known[~held_out], targets[~held_out], rest, len(near.classes))
            linear[held_out] = known[held_out] @ fitted
        linear_scores = [linear[targets == index, index] for index in range(len(near.classes))]
        nearness = [near.own_scores(name).astype(np.float64) for name in near.classes]
        scales = _deviation(nearness), _deviation(linear_scores)
        own = {
            name: one / scales[0] + other / scales[1]
            for name, one, other in zip(near.classes, nearness, linear_scores, strict=True)
        }
        return cls(near, weights, scales, own)

    def scores(self, vectors: Bytes) -> Floats:
        """A row for each vector and a column for each class."""
        linear = _directions(vectors) @ self.weights
        scores: Floats = (self.near.scores(vectors) / self.scales[0] + linear / self.scales[1]).astype(np.float32)
        return scores.round(_DIGITS)

    def threshold(self, name: str, recall: float) -> float:
        """The held-out score that this share of the class's seeds reach."""
        return float(np.quantile(self.own[name], 1 - recall))


def sample_vectors(shards: Iterable[Bytes], total: int, *, seed: int, count: int = BACKGROUND) -> Bytes:
    """Up to `count` vectors of the pool, drawn at random.

    >>> shards = [np.array([[1], [2]], np.int8), np.array([[3]], np.int8)]
    >>> sample_vectors(shards, 3, seed=1, count=9).tolist()
    [[1], [2], [3]]
    """
    rows = np.sort(np.random.default_rng(seed).choice(total, min(count, total), replace=False))
    sampled, first = [], 0
    for shard in shards:
        own = rows[(rows >= first) & (rows < first + len(shard))] - first
        sampled.append(np.asarray(shard[own]))
        first += len(shard)
    return np.concatenate(sampled)


def _directions(vectors: Bytes) -> Doubles:
    """Unit vectors, with a 1 appended for the intercept."""
    return np.hstack([unit_rows(vectors.astype(np.float64)), np.ones((len(vectors), 1))])


def _fitted(known: Doubles, labels: NDArray[Any], rest: Doubles, classes: int) -> Doubles:
    """Ridge regression: for each class, the weights of "this class" minus those of "no class".

    The background weighs as much as all seeds together, but each of its dialogues at most as much as a seed.
    """
    targets = np.zeros((len(known), classes + 1))
    targets[np.arange(len(known)), labels] = 1
    weight = min(len(known) / len(rest), 1.0)
    none = np.zeros(classes + 1)
    none[-1] = 1
    squares = known.T @ known + weight * (rest.T @ rest)
    penalty = np.full(len(squares), _PENALTY)
    penalty[-1] = 1e-6
    products = known.T @ targets + weight * np.outer(rest.sum(axis=0), none)
    solved = np.linalg.solve(squares + np.diag(penalty), products)
    weights: Doubles = (solved[:, :classes] - solved[:, classes:]).round(_DIGITS)
    return weights


def _deviation(scores: Iterable[Doubles]) -> float:
    return float(np.concatenate(list(scores)).std()) or 1.0
