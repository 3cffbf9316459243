"""Agreement between annotators: Fleiss' kappa overall and per label, Krippendorff's alpha, and Cohen's kappa for pairs.

With n_ij votes for label j on item i, n_i votes on item i, and N items that have at least two votes:

    observed  P = mean over i of  sum_j n_ij (n_ij - 1) / (n_i (n_i - 1))
    p_j         = mean over i of  n_ij / n_i
    expected  E = sum_j p_j^2
    kappa       = (P - E) / (1 - E)

Where every item has the same number of votes this is Fleiss (1971); for varying numbers it is the generalisation in
Gwet (2014), Handbook of Inter-Rater Reliability, except that an item with a single vote, which cannot show agreement,
is left out of p_j too. The kappa of one label treats the votes as "this label" against "any other".

Krippendorff's alpha (nominal) uses the same items, but weights votes rather than items equally, and draws chance pairs
without replacement. With n votes in all and n_j for label j:

    observed disagreement = sum over i of  (n_i^2 - sum_j n_ij^2) / (n_i - 1)  / n
    expected disagreement = (n^2 - sum_j n_j^2) / (n (n - 1))
    alpha                 = 1 - observed / expected

Implemented here because statsmodels' `fleiss_kappa` needs the same number of votes on every item, and the bootstrap
needs Cohen's kappa for a stack of tables.
"""

import math

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import Counts, Floats


def fleiss_kappa(counts: Counts) -> float:
    """Fleiss' kappa of an items-by-labels table of votes; NaN if no item has two votes or all votes are for one label.

    >>> round(fleiss_kappa(np.array([[3, 0], [0, 3], [2, 1]])), 4)
    0.55
    """
    votes = _votes(counts)
    if not len(votes):
        return math.nan
    raters = votes.sum(1)
    observed = float(np.mean((votes * (votes - 1)).sum(1) / (raters * (raters - 1))))
    shares = (votes / raters[:, None]).mean(0)
    # 1 - E as a sum of products, which is exactly 0 when one label has all votes.
    disagreement = float((shares * (1 - shares)).sum())
    return 1 - (1 - observed) / disagreement if disagreement > 0 else math.nan


def fleiss_kappa_per_label(counts: Counts) -> Floats:
    """How well annotators agree on whether each label applies; NaN for a label nobody chose.

    >>> fleiss_kappa_per_label(np.array([[3, 0, 0], [0, 3, 0], [2, 0, 1]])).round(3).tolist()
    [0.55, 1.0, -0.125]
    """
    votes = _votes(counts)
    raters = votes.sum(1)
    pairs = (np.stack([column, raters - column], axis=1) for column in votes.T)
    return np.array([fleiss_kappa(pair) for pair in pairs], np.float64)


def krippendorff_alpha(counts: Counts) -> float:
    """Krippendorff's alpha for nominal labels, from the same table as Fleiss' kappa; NaN where undefined.

    >>> round(krippendorff_alpha(np.array([[3, 0], [0, 3], [2, 1]])), 4)
    0.6
    """
    votes = _votes(counts)
    raters = votes.sum(1)
    total = float(raters.sum())
    observed = float(((raters**2 - (votes**2).sum(1)) / (raters - 1)).sum())
    expected = total**2 - float((votes.sum(0) ** 2).sum())
    return 1 - observed * (total - 1) / expected if expected > 0 else math.nan


def cohen_kappa(confusion: Counts) -> Floats:
    """Cohen's kappa of a confusion matrix, or of each in a stack; NaN where both only ever chose the same single label.

    >>> float(cohen_kappa(np.array([[20, 5], [10, 15]])).round(4))
    0.4
    """
    table = np.asarray(confusion, np.float64)
    total = table.sum((-2, -1))
    observed = np.trace(table, axis1=-2, axis2=-1) * total
    expected = (table.sum(-1) * table.sum(-2)).sum(-1)
    room = total**2 - expected
    kappa: Floats = np.divide(observed - expected, room, out=np.full(np.shape(room), math.nan), where=room > 0)
    return kappa


def _votes(counts: Counts) -> NDArray[np.float64]:
    """The rows with at least two votes, as floats."""
    votes = np.asarray(counts, np.float64)
    if votes.ndim != 2:
        raise EmoscopeError(f"votes must be a table of items by labels, not an array of {votes.ndim} dimensions")
    if not np.isfinite(votes).all() or (votes < 0).any() or (votes != np.floor(votes)).any():
        raise EmoscopeError("votes must be whole numbers, none below zero")
    usable: NDArray[np.float64] = votes[votes.sum(1) >= 2]
    return usable
