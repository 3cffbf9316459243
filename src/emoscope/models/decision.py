"""Which label to answer with: not always the most likely one, where the metric is an F1 of rare classes."""

from collections.abc import Callable, Sequence

import numpy as np

from emoscope.core.metrics import Floats, Metric

_STEPS = np.exp(np.linspace(-1.2, 1.2, 25))
_TRIES = 3


def choose_multipliers(
    metric: Metric, names: Sequence[str], labels: Sequence[str], probabilities: Floats, prior: Floats
) -> Floats | None:
    """A number for each of `names` by which probabilities are multiplied before the greatest one is answered.

    They are those that give the best score on held-out probabilities, each example weighted so that the labels occur as
    in `prior`. Chosen on a random half of the data and tried on the other, several times over; None unless that helped
    by more than chance: numbers that only fit these data would cost elsewhere.
    """
    gold = np.array([names.index(label) for label in labels])
    weights = (prior / np.maximum(np.bincount(gold, minlength=len(names)), 1))[gold]
    draw = np.random.default_rng(0)

    def scorer(rows: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Callable[[Floats], float]:
        def score(multipliers: Floats) -> float:
            confusion = np.zeros((len(names), len(names)))
            np.add.at(confusion, (gold[rows], (probabilities[rows] * multipliers).argmax(1)), weights[rows])
            return float(metric(confusion, names))

        return score

    found, gains = [], []
    for _ in range(_TRIES):
        half = draw.permutation(len(gold)) % 2
        for side in (0, 1):
            best = _search(scorer(half == side), len(names))
            judge = scorer(half != side)
            found.append(best)
            gains.append(judge(best) - judge(np.ones(len(names))))
    if np.mean(gains) <= np.std(gains):  # the halves overlap, so the spread is not to be divided by their number
        return None
    return np.asarray(np.exp(np.mean(np.log(found), axis=0)))


def _search(score: Callable[[Floats], float], size: int) -> Floats:
    """One label after the other, twice; the first stays at 1, as only ratios matter."""
    best = np.ones(size)
    highest = score(best)
    for _ in range(2):
        for label in range(1, size):
            for step in _STEPS:
                tried = best.copy()
                tried[label] = step
                reached = score(tried)
                if reached > highest + 1e-9:
                    best, highest = tried, reached
    return best
