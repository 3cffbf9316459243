"""The base classes of exported networks, which need no torch."""

import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Component, Floats, Prediction, Truncated
from emoscope.models.onnx.session import reason
from emoscope.models.probabilities import LabelGrouping, label_probabilities

VECTORS = "encoder"  # the folder of a network's frozen encoder, if it has one


class FromFolder(Component):
    """An exported component: it is opened from a folder, and saved by copying the folder's files."""

    _folder: Path | None = None

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        del examples, labels, fit_context
        raise EmoscopeError("an exported model cannot be trained; train the run it came from")

    def save_weights(self, folder: Path) -> None:
        if self._folder is None:
            raise EmoscopeError("this model has not been loaded")
        shutil.copytree(self._folder, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(VECTORS))

    def load_weights(self, folder: Path) -> None:
        self._folder = folder
        try:
            self.open(folder)
        except EmoscopeError:
            raise
        except Exception as error:  # onnxruntime's errors for missing or damaged files have no common class
            raise InputError(folder, f"is not an exported network ({reason(error)})") from None

    @abstractmethod
    def open(self, folder: Path) -> None:
        """Open the graph in a folder."""


class Exported(FromFolder, Block):
    """A network as a graph, with its labels and auxiliary questions; everything else is in its folder."""

    def __init__(self, labels: Sequence[str], questions: Sequence[Mapping[str, Any]] = ()) -> None:
        self.labels = tuple(labels)
        self.questions = [LabelGrouping(**each) for each in questions]

    @abstractmethod
    def logits(self, examples: Sequence[Example]) -> tuple[Floats, Truncated]:
        """The network's output for one or more examples, and which of them were truncated."""

    def infer(self, examples: Sequence[Example]) -> Prediction:
        if not examples:
            return Prediction(np.zeros((0, len(self.labels))))
        logits, truncated = self.logits(examples)
        return Prediction(self.probabilities(logits), truncated)

    def probabilities(self, logits: Floats) -> Floats:
        """The probability of each label."""
        return label_probabilities(logits, self.questions, len(self.labels))

    def config(self) -> dict[str, Any]:
        return {"labels": self.labels, "questions": [asdict(each) for each in self.questions]}
