"""Correcting probabilities when classes are rarer, or more frequent, than they were in training."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import Floats


def prior_vector(prior: Mapping[str, float], labels: Sequence[str]) -> Floats:
    """A class prior as an array in label order, checked and scaled to sum to 1.

    >>> prior_vector({"happy": 1, "others": 9}, ["others", "happy"]).tolist()
    [0.9, 0.1]
    >>> prior_vector({"happy": 1e308, "others": 1e308}, ["others", "happy"]).tolist()
    [0.5, 0.5]
    """
    if set(prior) != set(labels):
        raise EmoscopeError(f"a prior must give one number for each of: {', '.join(labels)}")
    try:
        values = np.array([float(prior[label]) for label in labels])
    except (TypeError, ValueError):
        raise EmoscopeError(f"a prior gives a number for each label, not {dict(prior)}") from None
    if not np.isfinite(values).all() or (values < 0).any() or values.max(initial=0) <= 0:
        raise EmoscopeError("a prior's numbers must be finite, not negative, and not all zero")
    if values.max() > 1e300:
        values = values / values.max()  # or their sum would overflow
    return np.asarray(values / values.sum())


def shift_prior(probabilities: ArrayLike, source: ArrayLike, target: ArrayLike) -> Floats:
    """Bayes' rule: probabilities under the target prior, given those under the source (training) prior.

    >>> shift_prior([[0.5, 0.5]], source=[0.5, 0.5], target=[0.9, 0.1]).round(3).tolist()
    [[0.9, 0.1]]
    """
    answers, old, new = (np.asarray(values, np.float64) for values in (probabilities, source, target))
    shifted = answers * (new / old)
    total = shifted.sum(-1, keepdims=True)
    # If all mass is on classes that the target prior rules out, there is no evidence: answer with the prior.
    return np.where(total > 0, shifted / np.where(total > 0, total, 1), new)


def estimate_prior(
    probabilities: ArrayLike, source: ArrayLike, *, max_rounds: int = 1000, tolerance: float = 1e-6
) -> Floats:
    """The class prior of unlabelled data by expectation maximisation (Saerens, Latinne, Decaestecker 2002).

    `probabilities` are a model's answers on that data under its own training prior `source`.

    >>> answers = [[0.9, 0.1]] * 9 + [[0.1, 0.9]]
    >>> estimate_prior(answers, source=[0.5, 0.5]).round(2).tolist()
    [1.0, 0.0]
    """
    answers = np.asarray(probabilities, np.float64)
    if answers.ndim != 2 or not len(answers):
        raise EmoscopeError("estimating a prior needs at least one dialogue")
    prior = np.asarray(source, np.float64)
    for _ in range(max_rounds):
        updated = np.asarray(shift_prior(answers, source, prior).mean(0))
        moved = np.abs(updated - prior).max()
        prior = updated
        if moved < tolerance:
            break
    return prior
