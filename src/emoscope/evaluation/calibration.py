"""How well probabilities are calibrated."""

import numpy as np
from numpy.typing import NDArray

BINS = 15


def calibration_error(probabilities: NDArray[np.float64], gold: NDArray[np.int64], *, bins: int = BINS) -> float:
    """Expected calibration error: the gap between the best label's probability and how often it is right.

    Averaged over bins of equal width, each weighted by the items in it; `gold` are columns.

    >>> calibration_error(np.array([[0.8, 0.2]] * 5), np.array([0, 0, 0, 0, 1]))
    0.0
    >>> round(calibration_error(np.array([[0.9, 0.1]] * 2), np.array([0, 1])), 4)
    0.4
    """
    sure = probabilities.max(1)
    right = probabilities.argmax(1) == gold
    place = np.minimum((sure * bins).astype(np.int64), bins - 1)
    items = np.bincount(place, minlength=bins)
    gap = np.bincount(place, sure, bins) - np.bincount(place, right, bins)
    return float(np.abs(gap[items > 0]).sum() / len(sure))
