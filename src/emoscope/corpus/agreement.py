"""Agreement between annotators: Fleiss' kappa, overall and per label.

With n_ij votes for label j on item i, n_i votes on item i, and N items that have at least two votes:

    observed  P = mean over i of  sum_j n_ij (n_ij - 1) / (n_i (n_i - 1))
    p_j         = mean over i of  n_ij / n_i
    expected  E = sum_j p_j^2
    kappa       = (P - E) / (1 - E)

Where every item has the same number of votes this is Fleiss (1971); for varying numbers it is the generalisation in
Gwet (2014), Handbook of Inter-Rater Reliability, except that an item with a single vote, which cannot show agreement,
is left out of p_j too. The kappa of one label is that of the same votes read as "this label" against "any other".
"""

import math

import numpy as np
from numpy.typing import NDArray

from emoscope.errors import EmoscopeError
from emoscope.metrics import Counts, Floats


def fleiss_kappa(counts: Counts) -> float:
    """Fleiss' kappa of an array with items in rows, labels in columns and numbers of votes in the cells.

    1 is perfect agreement, 0 what chance would give. It is NaN where it is not defined: no item has two votes, or
    every vote is for the same label.

    >>> round(fleiss_kappa(np.array([[3, 0], [0, 3], [2, 1]])), 4)
    0.55
    """
    votes = _votes(counts)
    if not len(votes):
        return math.nan
    raters = votes.sum(1)
    observed = float(np.mean((votes * (votes - 1)).sum(1) / (raters * (raters - 1))))
    shares = (votes / raters[:, None]).mean(0)
    # 1 - E as a sum of products: it is exactly 0 when one label has every vote.
    disagreement = float((shares * (1 - shares)).sum())
    return 1 - (1 - observed) / disagreement if disagreement > 0 else math.nan


def fleiss_kappa_per_label(counts: Counts) -> Floats:
    """The kappa of each label: how well annotators agree on whether it applies. NaN for a label nobody chose.

    >>> fleiss_kappa_per_label(np.array([[3, 0, 0], [0, 3, 0], [2, 0, 1]])).round(3).tolist()
    [0.55, 1.0, -0.125]
    """
    votes = _votes(counts)
    raters = votes.sum(1)
    pairs = (np.stack([column, raters - column], axis=1) for column in votes.T)
    return np.array([fleiss_kappa(pair) for pair in pairs], np.float64)


def _votes(counts: Counts) -> NDArray[np.float64]:
    """The rows that can show agreement, as floats."""
    votes = np.asarray(counts, np.float64)
    if votes.ndim != 2:
        raise EmoscopeError(f"votes must be a table of items by labels, not an array of {votes.ndim} dimensions")
    if not np.isfinite(votes).all() or (votes < 0).any() or (votes != np.floor(votes)).any():
        raise EmoscopeError("votes must be whole numbers, none below zero")
    enough: NDArray[np.float64] = votes[votes.sum(1) >= 2]
    return enough
