"""One number that makes a network's probabilities honest: the temperature its scores are divided by."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def temperature_of(scores: Floats, targets: Floats) -> float:
    """The temperature under which the targets are most likely (Guo et al. 2017), found by golden-section search.

    >>> sure = np.array([[4.0, 0.0]] * 3 + [[0.0, 4.0]])
    >>> right = np.eye(2)[[0, 0, 1, 1]]
    >>> temperature_of(sure, right) > 1  # one answer of four is wrong: less sure would be more honest
    True
    """

    def loss(log_temperature: float) -> float:
        shown = scores / np.exp(log_temperature)
        shown = shown - shown.max(1, keepdims=True)
        logs = shown - np.log(np.exp(shown).sum(1, keepdims=True))
        return float(-(targets * logs).sum() / len(targets))

    ratio = (np.sqrt(5) - 1) / 2
    low, high = -2.5, 2.5
    for _ in range(60):
        first, second = high - ratio * (high - low), low + ratio * (high - low)
        if loss(first) < loss(second):
            high = second
        else:
            low = first
    return float(np.exp((low + high) / 2))
