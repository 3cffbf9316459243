"""Gradient-boosted trees over features: LightGBM and XGBoost, each saved in its own open format."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from emoscope.core.errors import InputError
from emoscope.core.extras import require
from emoscope.core.files import existing_file, write_file
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Floats
from emoscope.models.features.base import Extractor, Matrix
from emoscope.models.features.classifier import Classes, FeatureClassifier, fitted
from emoscope.models.former_names import FORMER_NAMES


class BoostedTrees(FeatureClassifier):
    """`num_boost_round` rounds of trees; `parameters` are the library's own, under its own names."""

    file: ClassVar[str]
    fixed: ClassVar[Mapping[str, Any]]

    def __init__(
        self,
        labels: Sequence[str],
        features: Sequence[Extractor | Mapping[str, Any]] = (),
        *,
        num_boost_round: int = 300,
        **parameters: Any,
    ) -> None:
        super().__init__(labels, features)
        self.num_boost_round = num_boost_round
        self.parameters = parameters
        self._booster: Any = None

    @abstractmethod
    def _boost(self, rows: Matrix, classes: Classes, parameters: dict[str, Any]) -> Iterator[Any]:
        """The booster after each round."""

    @abstractmethod
    def _dump(self, booster: Any) -> bytes:
        """The model in the library's format."""

    @abstractmethod
    def _parse(self, content: bytes) -> Any:
        """The booster that `_dump` wrote."""

    @abstractmethod
    def _predict(self, booster: Any, rows: Matrix) -> Any:
        """The probability of each label."""

    def fit_features(self, features: Matrix, classes: Classes, fit_context: FitContext) -> Self:
        parameters = {**self.fixed, "num_class": len(self.labels), "seed": fit_context.seed, **self.parameters}
        for done, booster in enumerate(self._boost(_rows(features), classes, parameters), start=1):
            self._booster = booster
            fit_context.progress(f"round {done}/{self.num_boost_round}", done / self.num_boost_round)
        # Read back, as a loaded model is, so that both give the same probabilities.
        self._booster = self._parse(self._dump(self._booster))
        return self

    def predict_features(self, features: Matrix) -> Floats:
        return np.asarray(self._predict(fitted(self._booster), _rows(features)), np.float64)

    def save_weights(self, folder: Path) -> None:
        write_file(folder / self.file, self._dump(fitted(self._booster)))

    def load_model(self, folder: Path) -> None:
        path = existing_file(folder / self.file)
        try:
            self._booster = self._parse(path.read_bytes())
        except Exception as error:  # the libraries' errors have no narrower base class in common
            problem = f"is not a valid {type(self).__name__} model ({str(error).splitlines()[0]})"
            raise InputError(path, problem) from None


class LightGBM(BoostedTrees):
    """LightGBM (Ke et al. 2017), saved as its text model."""

    file = "lightgbm.txt"
    fixed: ClassVar[Mapping[str, Any]] = {
        "objective": "multiclass",
        "deterministic": True,
        "force_col_wise": True,
        "feature_pre_filter": False,
        "bagging_freq": 1,  # without it LightGBM ignores bagging_fraction
        "verbosity": -1,
    }

    def _boost(self, rows: Matrix, classes: Classes, parameters: dict[str, Any]) -> Iterator[Any]:
        lightgbm = require("lightgbm", extra="features")
        booster = lightgbm.Booster(parameters, lightgbm.Dataset(rows, classes, params=parameters))
        for _ in range(self.num_boost_round):
            booster.update()
            yield booster

    def _dump(self, booster: Any) -> bytes:
        return str(booster.model_to_string()).encode()

    def _parse(self, content: bytes) -> Any:
        return require("lightgbm", extra="features").Booster(model_str=content.decode())

    def _predict(self, booster: Any, rows: Matrix) -> Any:
        return booster.predict(rows)


class XGBoost(BoostedTrees):
    """XGBoost (Chen and Guestrin 2016), saved as its universal binary JSON."""

    file = "xgboost.ubj"
    former_names: ClassVar[Mapping[str, str]] = {
        **FORMER_NAMES,
        "column_share": "colsample_bytree",
        "row_share": "subsample",
        "penalty": "lambda",
    }
    fixed: ClassVar[Mapping[str, Any]] = {"objective": "multi:softprob", "tree_method": "hist", "verbosity": 0}

    def _boost(self, rows: Matrix, classes: Classes, parameters: dict[str, Any]) -> Iterator[Any]:
        xgboost = require("xgboost", extra="features")
        data = xgboost.DMatrix(rows, classes)
        booster = xgboost.Booster(parameters, [data])
        for number in range(self.num_boost_round):
            booster.update(data, number)
            yield booster

    def _dump(self, booster: Any) -> bytes:
        return bytes(booster.save_raw("ubj"))

    def _parse(self, content: bytes) -> Any:
        booster = require("xgboost", extra="features").Booster()
        booster.load_model(bytearray(content))
        return booster

    def _predict(self, booster: Any, rows: Matrix) -> Any:
        return booster.predict(require("xgboost", extra="features").DMatrix(rows))


def _rows(features: Matrix) -> Matrix:
    """Sparse rows of float32 in training and prediction alike: to XGBoost an absent value is not the same as a 0."""
    return require("scipy.sparse", extra="features").csr_matrix(features, dtype=np.float32)
