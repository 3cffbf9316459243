"""What sets the seeds of a class apart, learnt from them, next to how near they are.

The nearest seeds see single wordings; a linear model sees what all seeds of a class have in common and others have not.
Each errs where the other does not, so the two scores are added. For the model, dialogues drawn from the pool at random
stand for all that has no emotion: a few of them have one, but nobody had to judge them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emoscope.corpus.mining.similarity import Floats, SeedVectors
from emoscope.corpus.mining.vectors import Bytes

BACKGROUND = 4_000  # dialogues of the pool to learn from
_PENALTY = 3.0
_FOLDS = 5
_DIGITS = 5  # of weights: what is lost is less than the noise, and the order in which a machine adds does not show

Doubles = NDArray[np.float64]


class Scorer(Protocol):
    """Says how much a dialogue is like the seeds of each class, and what score a share of a class reaches."""

    def scores(self, vectors: Bytes) -> Floats:
        """A row for each vector and a column for each class."""

    def threshold(self, name: str, recall: float) -> float:
        """The score that this share of the class should reach."""


@dataclass(frozen=True, slots=True)
class LearntSeeds:
    """Nearness and a linear model, each divided by how much it differs between seeds, and added."""

    near: SeedVectors
    weights: Doubles  # a row for each dimension and a last one for none, a column for each class
    scales: tuple[float, float]
    own: Mapping[str, Doubles]  # the scores of each class's seeds, as if they were in the pool

    @classmethod
    def of(cls, near: SeedVectors, background: Bytes) -> "LearntSeeds":
        """Learn from the seeds, and from dialogues of the pool."""
        seeds = [*near.classes.values(), *([] if near.others is None else [near.others])]
        sizes = [len(vectors) for vectors in seeds]
        known = _directions(np.concatenate(seeds))
        kinds = np.repeat([*range(len(near.classes)), *([] if near.others is None else [-1])], sizes)
        rest = _directions(background)
        weights = _fitted(known, kinds, rest, len(near.classes))
        linear = np.empty((len(known), len(near.classes)))
        # Neighbours in the file are often alike: one in five is left out, not five in a row.
        fold = np.arange(len(known)) % _FOLDS
        for number in range(_FOLDS):
            left_out = fold == number
            fitted = _fitted(known[~left_out], kinds[~left_out], rest, len(near.classes))
            linear[left_out] = known[left_out] @ fitted
        learnt = [linear[kinds == place, place] for place in range(len(near.classes))]
        nearby = [near.own_scores(name).astype(np.float64) for name in near.classes]
        scales = _spread(nearby), _spread(learnt)
        own = {
            name: one / scales[0] + other / scales[1]
            for name, one, other in zip(near.classes, nearby, learnt, strict=True)
        }
        return cls(near, weights, scales, own)

    def scores(self, vectors: Bytes) -> Floats:
        """A row for each vector and a column for each class."""
        learnt = _directions(vectors) @ self.weights
        made: Floats = (self.near.scores(vectors) / self.scales[0] + learnt / self.scales[1]).astype(np.float32)
        return made.round(_DIGITS)

    def threshold(self, name: str, recall: float) -> float:
        """The score that this share of the class's seeds reach, each while it is left out."""
        return float(np.quantile(self.own[name], 1 - recall))


def background(shards: Iterable[Bytes], total: int, *, seed: int, count: int = BACKGROUND) -> Bytes:
    """Vectors of the pool, drawn at random.

    >>> shards = [np.array([[1], [2]], np.int8), np.array([[3]], np.int8)]
    >>> background(shards, 3, seed=1, count=9).tolist()
    [[1], [2], [3]]
    """
    rows = np.sort(np.random.default_rng(seed).choice(total, min(count, total), replace=False))
    found, first = [], 0
    for shard in shards:
        own = rows[(rows >= first) & (rows < first + len(shard))] - first
        found.append(np.asarray(shard[own]))
        first += len(shard)
    return np.concatenate(found)


def _directions(vectors: Bytes) -> Doubles:
    """Vectors of length one, with a one behind them."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.hstack([wide / np.where(lengths > 0, lengths, 1), np.ones((len(wide), 1))])


def _fitted(known: Doubles, kinds: NDArray[Any], rest: Doubles, classes: int) -> Doubles:
    """Least squares with a penalty: for each class, how much more a dialogue is of it than of none.

    The background weighs as much as all seeds together, but no dialogue of it more than a seed.
    """
    targets = np.zeros((len(known), classes + 1))
    targets[np.arange(len(known)), kinds] = 1
    weight = min(len(known) / len(rest), 1.0)
    none = np.zeros(classes + 1)
    none[-1] = 1
    squares = known.T @ known + weight * (rest.T @ rest)
    penalty = np.full(len(squares), _PENALTY)
    penalty[-1] = 1e-6
    products = known.T @ targets + weight * np.outer(rest.sum(axis=0), none)
    solved = np.linalg.solve(squares + np.diag(penalty), products)
    made: Doubles = (solved[:, :classes] - solved[:, classes:]).round(_DIGITS)
    return made


def _spread(scores: Iterable[Doubles]) -> float:
    return float(np.concatenate(list(scores)).std()) or 1.0
