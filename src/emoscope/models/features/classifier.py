"""The base of linear and boosted classifiers over features."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.core.metrics import encode
from emoscope.models.block import CONFIG, EXTRACTORS, Block, Floats, Prediction
from emoscope.models.features.base import Extractor, Matrix, all_features
from emoscope.models.former_names import FORMER_NAMES

Classes = NDArray[np.int64]
T = TypeVar("T")


class FeatureClassifier(Block):
    """Feature extractors and a model over their features."""

    child_arguments = ("features",)
    former_names = FORMER_NAMES

    def __init__(self, labels: Sequence[str], features: Sequence[Extractor | Mapping[str, Any]] = ()) -> None:
        self.labels = tuple(labels)
        self.extractors = [each if isinstance(each, Extractor) else _extractor(each) for each in features]

    @abstractmethod
    def fit_features(self, features: Matrix, classes: Classes, fit_context: FitContext) -> Self:
        """Learn from a matrix of features, dense or sparse, and the position of each row's label in `labels`."""

    @abstractmethod
    def predict_features(self, features: Matrix) -> Floats:
        """The probability of each label, given features."""

    @abstractmethod
    def load_model(self, folder: Path) -> None:
        """Read the model of the features that `save_weights` wrote."""

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        for each in self.extractors:
            each.fit(examples, labels, fit_context)
        if len(set(labels)) < 2:
            raise EmoscopeError("learning needs at least two different labels")
        return self.fit_features(all_features(self.extractors, examples), encode(labels, self.labels), fit_context)

    def infer(self, examples: Sequence[Example]) -> Prediction:
        if not examples:
            return Prediction(np.zeros((0, len(self.labels))))
        return Prediction(self.predict_features(all_features(self.extractors, examples)))

    def children(self) -> Mapping[str, Extractor]:
        return {f"features{number}": each for number, each in enumerate(self.extractors)}

    def set_children(self, children: Mapping[str, Extractor]) -> None:
        self.extractors = list(children.values())

    def load_weights(self, folder: Path) -> None:
        for name, extractor in self.children().items():
            if not (folder / name / CONFIG).is_file():  # saved before extractors had a description of their own
                extractor.load_weights(folder / name)
        self.load_model(folder)


def _extractor(config: Mapping[str, Any]) -> Extractor:
    """The unfitted extractor that a configuration describes."""
    return EXTRACTORS[config["kind"]].from_config({name: value for name, value in config.items() if name != "kind"}, {})


def fitted(model: T | None) -> T:
    """The model, unless there is none yet."""
    if model is None:
        raise EmoscopeError("this model has not been fitted")
    return model
