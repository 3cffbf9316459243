"""Which label to answer with: not always the most likely one, where the metric is an F1 of rare classes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from emoscope.tasks.base import Task

Floats = NDArray[np.float64]
_STEPS = np.exp(np.linspace(-1.2, 1.2, 25))
_TRIES = 3


def weighted_score(task: Task, gold: NDArray[np.int64], answers: NDArray[np.int64], weights: Floats) -> float:
    """The official score of answers where each example counts with a weight."""
    size = len(task.labels)
    confusion = np.zeros((size, size))
    np.add.at(confusion, (gold, answers), weights)
    return float(task.metric(confusion, task.labels))


def choose_multipliers(task: Task, labels: Sequence[str], probabilities: Floats, prior: Floats) -> Floats | None:
    """A number per label by which probabilities are multiplied before the greatest one is answered.

    They are those that give the best official score on held-out probabilities, each example weighted so that the
    labels occur as in `prior`. Chosen on a random half of the data and tried on the other, several times over; None
    unless that helped by more than chance: numbers that only fit these data would cost elsewhere.
    """
    gold = np.array([task.labels.index(label) for label in labels])
    counts = np.bincount(gold, minlength=len(task.labels)).astype(float)
    weights = (prior / np.maximum(counts, 1))[gold]
    draw = np.random.default_rng(0)
    found, gains = [], []
    for _ in range(_TRIES):
        half = draw.permutation(len(gold)) % 2
        for side in (0, 1):
            learn, judge = half == side, half != side
            best = _search(task, gold[learn], probabilities[learn], weights[learn])
            found.append(best)
            before = weighted_score(task, gold[judge], probabilities[judge].argmax(1), weights[judge])
            after = weighted_score(task, gold[judge], (probabilities[judge] * best).argmax(1), weights[judge])
            gains.append(after - before)
    if np.mean(gains) <= np.std(gains):  # the halves overlap, so the spread is not to be divided by their number
        return None
    return np.asarray(np.exp(np.mean(np.log(found), axis=0)))


def _search(task: Task, gold: NDArray[np.int64], probabilities: Floats, weights: Floats) -> Floats:
    """One label after the other, twice; the first stays at 1, as only ratios matter."""
    best = np.ones(len(task.labels))
    score = weighted_score(task, gold, probabilities.argmax(1), weights)
    for _ in range(2):
        for label in range(1, len(best)):
            for step in _STEPS:
                tried = best.copy()
                tried[label] = step
                reached = weighted_score(task, gold, (probabilities * tried).argmax(1), weights)
                if reached > score + 1e-9:
                    best, score = tried, reached
    return best
