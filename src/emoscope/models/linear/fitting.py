"""Training code shared by linear models: scikit-learn's weights, and out-of-fold scores."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.extras import require
from emoscope.models.block import Floats


def class_weights(model: Any) -> tuple[Floats, Floats]:
    """A row of weights and a bias for each class of a scikit-learn model, which keeps one row for two classes."""
    weights, bias = np.asarray(model.coef_, np.float64), np.asarray(model.intercept_, np.float64)
    if len(model.classes_) == 2:
        return np.concatenate([-weights, weights]) / 2, np.concatenate([-bias, bias]) / 2
    return weights, bias


def held_out_scores(
    solve: Callable[[Any, NDArray[np.int64]], tuple[Floats, Floats]],
    features: Any,
    classes: NDArray[np.int64],
    *,
    folds: int,
    seed: int,
) -> Floats | None:
    """Out-of-fold scores of each row, by the weights that `solve` returns; None if a class is too rare."""
    counts = np.bincount(classes)
    if folds < 2 or counts[counts > 0].min() < folds:
        return None
    kfold = require("sklearn.model_selection", extra="train").StratifiedKFold(folds, shuffle=True, random_state=seed)
    rows, scores = [], []
    for learn, held_out in kfold.split(features, classes):
        weights, bias = solve(features[learn], classes[learn])
        rows.append(held_out)
        scores.append(features[held_out] @ weights.T + bias)
    return np.asarray(np.concatenate(scores)[np.argsort(np.concatenate(rows))])
