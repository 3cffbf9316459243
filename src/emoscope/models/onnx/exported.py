"""Trained networks as blocks that need no torch: they stand where the network stood, alone or in a combination."""

import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats
from emoscope.models.onnx.description import FLOAT
from emoscope.models.onnx.network import EncoderNetwork
from emoscope.models.onnx.session import Run, open_graph, reason
from emoscope.models.onnx.token_vectors import load_vectors
from emoscope.models.probabilities import Question, label_probabilities
from emoscope.models.text.contextual_rows import TurnRows, WordAndVectorRows, restored_turns
from emoscope.models.text.word_rows import KINDS, Item, WordRows, restored
from emoscope.parallel.threads import in_parallel

VECTORS = "encoder"  # the folder of the frozen encoder that a network reads words with, where it does


class Exported(Block):
    """What both kinds share: labels, the coarser questions beside them, and a folder with all the rest."""

    def __init__(self, labels: Sequence[str], questions: Sequence[Mapping[str, Any]] = ()) -> None:
        self.labels = tuple(labels)
        self.questions = [Question(each["groups"], tuple(each["grouping"])) for each in questions]
        self._folder: Path | None = None

    @abstractmethod
    def scores(self, examples: Sequence[Example]) -> Floats:
        """The network's own answer to each of at least one example."""

    @abstractmethod
    def truncates(self, example: Example) -> bool:
        """Whether a part of what was said is not read."""

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """The probability of each label."""
        if not examples:
            return np.zeros((0, len(self.labels)))
        return label_probabilities(self.scores(examples), self.questions, len(self.labels))

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """Not asked: what was exported does not learn."""
        del examples, labels, fitting
        raise EmoscopeError("an exported model cannot be trained; train the run it came from")

    def config(self) -> dict[str, Any]:
        """The constructor's arguments, as JSON."""
        questions = [{"groups": each.groups, "grouping": list(each.grouping)} for each in self.questions]
        return {"labels": list(self.labels), "questions": questions}

    def save_weights(self, folder: Path) -> None:
        """Copy the files it was loaded from."""
        if self._folder is None:
            raise EmoscopeError("this model has not been loaded")
        shutil.copytree(self._folder, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(VECTORS))


class ExportedWords(Exported):
    """A network over words, or over a frozen encoder's features, as a graph.

    One example at a time: nothing is padded, and none depends on others.
    """

    def __init__(
        self,
        labels: Sequence[str],
        rows: Mapping[str, Any],
        inputs: Sequence[str],
        questions: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(labels, questions)
        self._description = dict(rows)
        self._inputs = list(inputs)
        self._rows: WordRows | TurnRows
        self._run: Run

    def scores(self, examples: Sequence[Example]) -> Floats:
        """The network's own answer to each example."""

        def answered(item: Item) -> Floats:
            arrays = self._rows.arrays([item])
            return self._run({name: arrays[name] for name in self._inputs})[0]

        return np.concatenate(in_parallel(answered, self._rows.encode(examples))).astype(float)

    def truncates(self, example: Example) -> bool:
        """Whether turns or tokens are not read."""
        return self._rows.cuts(example)

    def config(self) -> dict[str, Any]:
        """The constructor's arguments, as JSON."""
        return {**super().config(), "rows": self._description, "inputs": self._inputs}

    def load_weights(self, folder: Path) -> None:
        """Open the graph, and read the words."""
        self._folder = folder
        try:
            self._rows = _rows(self._description, folder)
            self._run = open_graph(folder / FLOAT)
        except EmoscopeError:
            raise
        except Exception as error:  # whatever onnxruntime raises of a file that is missing or damaged
            raise InputError(folder, f"is not an exported network ({reason(error)})") from None

    def save_weights(self, folder: Path) -> None:
        """Copy the files it was loaded from, and those of the frozen encoder."""
        super().save_weights(folder)
        if isinstance(self._rows, TurnRows | WordAndVectorRows):
            self._rows.frozen_features.save(folder / VECTORS)


def _rows(description: Mapping[str, Any], folder: Path) -> WordRows | TurnRows:
    kind = description["rows"]
    if kind == TurnRows.kind:
        return restored_turns(description, load_vectors(folder / VECTORS))
    if kind == WordAndVectorRows.kind:
        made = restored(description, folder, WordAndVectorRows)
        made.frozen_features = load_vectors(folder / VECTORS)
        return made
    return restored(description, folder, KINDS[kind])


class ExportedEncoder(Exported):
    """A fine-tuned transformer as graphs."""

    def scores(self, examples: Sequence[Example]) -> Floats:
        """The network's own answer to each example."""
        return self._network.scores([example.context for example in examples])

    def truncates(self, example: Example) -> bool:
        """Whether turns or pieces are not read."""
        return self._network.truncates(example.context)

    def load_weights(self, folder: Path) -> None:
        """Open the graph that computes right on this machine."""
        self._folder = folder
        self._network = EncoderNetwork.load(folder)
