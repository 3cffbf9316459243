"""Gradient-boosted trees over features: LightGBM and XGBoost, each saved in its own open format."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.errors import InputError
from emoscope.core.extras import require
from emoscope.core.files import atomic_write, existing_file, whole_text
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Floats
from emoscope.models.features.base import Extractor, Matrix
from emoscope.models.features.classifier import FeatureClassifier, hard_targets, not_fitted


class LightGbmClassifier(FeatureClassifier):
    """LightGBM (Ke et al. 2017), saved as its text model.

    `column_share` is the share of features each tree may see, `row_share` the share of examples; `penalty` is L2 on
    the leaves' values.
    """

    def __init__(
        self,
        labels: Sequence[str],
        features: Sequence[Extractor | Mapping[str, Any]] = (),
        *,
        rounds: int = 300,
        rate: float = 0.1,
        leaves: int = 31,
        min_leaf: int = 20,
        column_share: float = 1.0,
        row_share: float = 1.0,
        penalty: float = 0.0,
    ) -> None:
        super().__init__(labels, features)
        self.rounds = rounds
        self.rate = rate
        self.leaves = leaves
        self.min_leaf = min_leaf
        self.column_share = column_share
        self.row_share = row_share
        self.penalty = penalty
        self._booster: Any = None

    def fit_features(self, features: Matrix, targets: Floats, fitting: FitContext) -> Self:
        """Grow the trees, one per label and round."""
        lightgbm = require("lightgbm", extra="features")
        parameters = {
            "objective": "multiclass",
            "num_class": len(self.labels),
            "learning_rate": self.rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": self.min_leaf,
            "feature_fraction": self.column_share,
            "bagging_fraction": self.row_share,
            "bagging_freq": int(self.row_share < 1),
            "lambda_l2": self.penalty,
            "seed": fitting.seed,
            "deterministic": True,
            "force_col_wise": True,
            "feature_pre_filter": False,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(_rows(features), hard_targets(targets), params=parameters)
        booster = lightgbm.Booster(parameters, data)
        for number in range(self.rounds):
            booster.update()
            fitting.report(f"round {number + 1}/{self.rounds}", (number + 1) / self.rounds)
        # Read back from its text, as a loaded model is, so that both answer alike.
        self._booster = lightgbm.Booster(model_str=booster.model_to_string())
        return self

    def predict_features(self, features: Matrix) -> Floats:
        """The probability of each label."""
        if self._booster is None:
            raise not_fitted()
        return np.asarray(self._booster.predict(_rows(features)), np.float64)

    def options(self) -> dict[str, Any]:
        """What the constructor takes beside labels and features."""
        return {
            "rounds": self.rounds,
            "rate": self.rate,
            "leaves": self.leaves,
            "min_leaf": self.min_leaf,
            "column_share": self.column_share,
            "row_share": self.row_share,
            "penalty": self.penalty,
        }

    def save_model(self, folder: Path) -> None:
        """LightGBM's text."""
        if self._booster is None:
            raise not_fitted()
        with atomic_write(folder / "lightgbm.txt") as handle:
            handle.write(self._booster.model_to_string())

    def load_model(self, folder: Path) -> None:
        """Read what `save_model` wrote."""
        lightgbm = require("lightgbm", extra="features")
        path = folder / "lightgbm.txt"
        try:
            self._booster = lightgbm.Booster(model_str=whole_text(path))
        except lightgbm.basic.LightGBMError as error:
            raise InputError(path, f"is not a LightGBM model ({error})") from None


class XgboostClassifier(FeatureClassifier):
    """XGBoost (Chen and Guestrin 2016), saved as its universal binary JSON.

    The options are LightGBM's, but for `depth`, the most questions a tree asks in a row. `penalty` is L2.
    """

    def __init__(
        self,
        labels: Sequence[str],
        features: Sequence[Extractor | Mapping[str, Any]] = (),
        *,
        rounds: int = 300,
        rate: float = 0.1,
        depth: int = 6,
        column_share: float = 1.0,
        row_share: float = 1.0,
        penalty: float = 1.0,
    ) -> None:
        super().__init__(labels, features)
        self.rounds = rounds
        self.rate = rate
        self.depth = depth
        self.column_share = column_share
        self.row_share = row_share
        self.penalty = penalty
        self._booster: Any = None

    def fit_features(self, features: Matrix, targets: Floats, fitting: FitContext) -> Self:
        """Grow the trees, one per label and round."""
        xgboost = require("xgboost", extra="features")
        parameters = {
            "objective": "multi:softprob",
            "num_class": len(self.labels),
            "eta": self.rate,
            "max_depth": self.depth,
            "colsample_bytree": self.column_share,
            "subsample": self.row_share,
            "lambda": self.penalty,
            "tree_method": "hist",
            "seed": fitting.seed,
            "verbosity": 0,
        }
        data = xgboost.DMatrix(_rows(features), hard_targets(targets))
        booster = xgboost.Booster(parameters, [data])
        for number in range(self.rounds):
            booster.update(data, number)
            fitting.report(f"round {number + 1}/{self.rounds}", (number + 1) / self.rounds)
        self._booster = booster
        return self

    def predict_features(self, features: Matrix) -> Floats:
        """The probability of each label."""
        if self._booster is None:
            raise not_fitted()
        xgboost = require("xgboost", extra="features")
        return np.asarray(self._booster.predict(xgboost.DMatrix(_rows(features))), np.float64)

    def options(self) -> dict[str, Any]:
        """What the constructor takes beside labels and features."""
        return {
            "rounds": self.rounds,
            "rate": self.rate,
            "depth": self.depth,
            "column_share": self.column_share,
            "row_share": self.row_share,
            "penalty": self.penalty,
        }

    def save_model(self, folder: Path) -> None:
        """XGBoost's universal binary JSON."""
        if self._booster is None:
            raise not_fitted()
        with atomic_write(folder / "xgboost.ubj", "wb") as handle:
            handle.write(self._booster.save_raw("ubj"))

    def load_model(self, folder: Path) -> None:
        """Read what `save_model` wrote."""
        xgboost = require("xgboost", extra="features")
        path = folder / "xgboost.ubj"
        booster = xgboost.Booster()
        try:
            booster.load_model(bytearray(existing_file(path).read_bytes()))
        except xgboost.core.XGBoostError as error:
            raise InputError(path, f"is not an XGBoost model ({str(error).splitlines()[0]})") from None
        self._booster = booster


def _rows(features: Matrix) -> Matrix:
    """Sparse rows of float32 for training and answering alike: to XGBoost an absent value is not the same as a 0."""
    return require("scipy.sparse", extra="features").csr_matrix(features, dtype=np.float32)
