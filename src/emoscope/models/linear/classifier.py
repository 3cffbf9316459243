"""Linear classifiers over features: logistic regression (MaxEnt) and the linear support vector machine."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.arrays import load_arrays, save_arrays
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Floats
from emoscope.models.features.base import Extractor, Matrix
from emoscope.models.features.classifier import Classes, FeatureClassifier, fitted
from emoscope.models.linear.fitting import class_weights, held_out_scores
from emoscope.models.probabilities import softmax, temperature_of

WEIGHTS = "linear.npz"
_NEVER = -1e9  # the score of a label that training did not have


class LinearClassifier(FeatureClassifier):
    """Logistic regression or a linear SVM (`kind`); an SVM's scores are divided by a temperature fitted on held-out
    folds, which makes them probabilities without changing its decisions.

    `C` is the inverse of the L2 penalty. `scale` divides each feature by its root mean square, which mixed kinds of
    features need and n-grams do not.
    """

    def __init__(
        self,
        labels: Sequence[str],
        features: Sequence[Extractor | Mapping[str, Any]] = (),
        *,
        kind: Literal["logistic", "svm"] = "logistic",
        C: float = 1.0,  # noqa: N803 - scikit-learn's name
        class_weight: Literal["none", "balanced"] = "none",
        scale: bool = False,
        max_iter: int = 300,
    ) -> None:
        super().__init__(labels, features)
        if kind not in ("logistic", "svm") or class_weight not in ("none", "balanced"):
            raise EmoscopeError(f"a linear classifier is logistic or svm, none or balanced; not {kind}, {class_weight}")
        self.kind = kind
        self.C = C
        self.class_weight = class_weight
        self.scale = scale
        self.max_iter = max_iter
        self._weights: NDArray[np.float32] | None = None
        self._bias: Floats = np.zeros(0)

    def fit_features(self, features: Matrix, classes: Classes, fit_context: FitContext) -> Self:
        require("sklearn", extra="train")
        matrix = require("scipy.sparse", extra="features").csr_matrix(features, dtype=np.float32)
        scale = _inverse_size(matrix) if self.scale else None
        if scale is not None:
            matrix = matrix.copy()
            matrix.data *= scale[matrix.indices]
        fit_context.progress("fitting a linear classifier", 0.0)
        solve = partial(self._solve, seed=fit_context.seed)
        weights, self._bias = solve(matrix, classes)
        if self.kind == "svm":
            scores = held_out_scores(solve, matrix, classes, folds=3, seed=fit_context.seed)
            temperature = 1.0 if scores is None else temperature_of(scores, classes, reach=3)
            weights, self._bias = weights / temperature, self._bias / temperature
        # The weights include the scale, so that prediction needs one table only.
        self._weights = np.asarray(weights if scale is None else weights * scale, np.float32)
        return self

    def predict_features(self, features: Matrix) -> Floats:
        return softmax(np.asarray(features @ fitted(self._weights).T, np.float64) + self._bias)

    def _solve(self, matrix: Matrix, classes: Classes, seed: int) -> tuple[Floats, Floats]:
        """A row of weights and a bias for every label."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        balance = "balanced" if self.class_weight == "balanced" else None
        if self.kind == "svm":
            model = LinearSVC(C=self.C, class_weight=balance, random_state=seed, max_iter=self.max_iter * 10)
        else:
            model = LogisticRegression(
                C=self.C, class_weight=balance, random_state=seed, max_iter=self.max_iter, tol=1e-3
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a few more steps change no decision
            model.fit(matrix, classes)
        weights = np.zeros((len(self.labels), matrix.shape[1]))
        biases = np.full(len(self.labels), _NEVER)
        weights[model.classes_], biases[model.classes_] = class_weights(model)
        return weights, biases

    def save_weights(self, folder: Path) -> None:
        save_arrays(folder / WEIGHTS, {"weights": fitted(self._weights), "bias": self._bias})

    def load_model(self, folder: Path) -> None:
        arrays = load_arrays(folder / WEIGHTS)
        self._weights, self._bias = arrays["weights"], arrays["bias"]


def _inverse_size(matrix: Matrix) -> NDArray[np.float32]:
    """One over the root mean square of each feature; 0 for one that is always zero."""
    size = np.sqrt(np.asarray(matrix.multiply(matrix).mean(0), np.float64).ravel())
    return np.asarray(np.divide(1, size, out=np.zeros_like(size), where=size > 1e-12), np.float32)
