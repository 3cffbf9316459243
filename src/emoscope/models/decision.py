"""Which label to choose: not always the most likely one, if the metric is an F1 over rare classes."""

from collections.abc import Callable, Sequence

import numpy as np

from emoscope.core.metrics import Floats, Metric

_STEPS = np.exp(np.linspace(-1.2, 1.2, 25))
_TRIES = 3


def choose_multipliers(
    metric: Metric, names: Sequence[str], labels: Sequence[str], probabilities: Floats, prior: Floats
) -> Floats | None:
    """A factor for each label in `names`; the label with the greatest product of factor and probability is chosen.

    The factors maximise the metric on held-out probabilities, with examples weighted so that labels are distributed as
    in `prior`. They are fitted on random halves of the data and tested on the other halves; None unless the gain is
    larger than chance, since overfitted factors would cost elsewhere.
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

    factors, gains = [], []
    for _ in range(_TRIES):
        half = draw.permutation(len(gold)) % 2
        for side in (0, 1):
            best = _search(scorer(half == side), len(names))
            judge = scorer(half != side)
            factors.append(best)
            gains.append(judge(best) - judge(np.ones(len(names))))
    if np.mean(gains) <= np.std(gains):  # the halves overlap, so this is the spread, not the standard error
        return None
    return np.asarray(np.exp(np.mean(np.log(factors), axis=0)))


def _search(score: Callable[[Floats], float], size: int) -> Floats:
    """Coordinate search over the factors, two rounds; the first stays at 1, as only ratios matter."""
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
