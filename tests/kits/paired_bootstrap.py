"""The paired bootstrap of two systems, as `emoscope compare` does it for many."""

import numpy as np

from emoscope.core.significance import (
    SAMPLES,
    Codes,
    Difference,
    ScoreFunction,
    Seed,
    difference,
    resampled_scores,
)


def paired_bootstrap(
    gold: Codes,
    first: Codes,
    second: Codes,
    *,
    classes: int,
    metric: ScoreFunction,
    level: float = 0.95,
    samples: int = SAMPLES,
    seed: Seed = 0,
) -> Difference:
    """Whether the first system's score differs from the second's, on resamplings of the same items."""
    drawn = resampled_scores(gold, [first, second], classes=classes, metric=metric, samples=samples, seed=seed)
    # The observed difference is the one draw in which each item is there once.
    tables = np.zeros((2, classes, classes), np.int64)
    for table, predicted in zip(tables, (first, second), strict=True):
        np.add.at(table, (gold, predicted), 1)
    scores = metric(tables)
    return difference(float(scores[0] - scores[1]), drawn[0] - drawn[1], level=level)
