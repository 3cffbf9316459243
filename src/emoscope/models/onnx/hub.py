"""Text classifiers of the Hugging Face hub as blocks; they read only the turn to label."""

import json
import shutil
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, Prediction
from emoscope.models.onnx.layout import batches_of_equal_length
from emoscope.models.probabilities import softmax

CONFIG, TOKENIZER = "config.json", "tokenizer.json"
GRAPHS = ("onnx/model.onnx", "model.onnx")
_LONGEST = 512  # tokens, if the model does not say


class HubClassifier(Block):
    """The base class: labels and length are in `config.json`, the tokenizer in `tokenizer.json`.

    The probabilities of a multi-label model are scaled to sum to 1.
    """

    files: tuple[str, ...] = (CONFIG, TOKENIZER)

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The classifier in a folder."""
        block = cls(labels_of(folder))
        block.load_weights(folder)
        return block

    def load_weights(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._folder = folder
        about = _config(folder)
        self._multi_label = about.get("problem_type") == "multi_label_classification"
        # RoBERTa-like models number positions from the padding id on.
        offset = 2 if "roberta" in str(about.get("model_type")) else 0
        self._longest = int(about.get("max_position_embeddings") or _LONGEST) - offset
        if not (folder / TOKENIZER).is_file():
            raise EmoscopeError(f"{folder}: has no {TOKENIZER}, which a fast tokenizer has")
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._longest)
        self.open(folder)

    def save_weights(self, folder: Path) -> None:
        for name in self.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._folder / name, folder / name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).of, (self._folder,)  # a session cannot be pickled

    @abstractmethod
    def open(self, folder: Path) -> None:
        """Load the model."""

    @abstractmethod
    def logits(self, token_ids: NDArray[np.int64], segments: NDArray[np.int64]) -> Floats:
        """The logits of rows of one length."""

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        del examples, labels, fit_context
        raise EmoscopeError("a model of the hub is used as it is and cannot be trained here")

    def infer(self, examples: Sequence[Example]) -> Prediction:
        rows = self._tokenizer.encode_batch([example.text for example in examples])
        logits = np.zeros((len(rows), len(self.labels)))
        for places in batches_of_equal_length(len(row.ids) for row in rows):
            token_ids, segments = (
                np.array([getattr(rows[place], kind) for place in places], np.int64) for kind in ("ids", "type_ids")
            )
            logits[places] = self.logits(token_ids, segments)
        probabilities = softmax(logits)
        if self._multi_label:
            each = 1 / (1 + np.exp(-logits))
            probabilities = each / each.sum(1, keepdims=True)
        return Prediction(probabilities, np.array([bool(row.overflowing) for row in rows], bool))


class HubGraph(HubClassifier):
    """A classifier with an ONNX graph; needs no torch."""

    def open(self, folder: Path) -> None:
        import onnxruntime

        graph = next(name for name in GRAPHS if (folder / name).is_file())
        self.files = (*HubClassifier.files, graph)
        if (folder / f"{graph}_data").is_file():  # large graphs have their weights in a second file
            self.files = (*self.files, f"{graph}_data")
        self._session = onnxruntime.InferenceSession(str(folder / graph), providers=["CPUExecutionProvider"])
        self._inputs = [each.name for each in self._session.get_inputs()]

    def logits(self, token_ids: NDArray[np.int64], segments: NDArray[np.int64]) -> Floats:
        inputs = {"input_ids": token_ids, "attention_mask": np.ones_like(token_ids), "token_type_ids": segments}
        return np.asarray(self._session.run(None, {name: inputs[name] for name in self._inputs})[0], np.float64)


def labels_of(folder: Path) -> list[str]:
    """The labels in the order of the model's outputs."""
    named = _config(folder).get("id2label")
    if not isinstance(named, dict) or len(named) < 2:
        raise InputError(folder / CONFIG, "names no labels (id2label): expected a model that classifies text")
    return [str(named[number]) for number in sorted(named, key=int)]


def _config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not path.is_file():
        raise EmoscopeError(f"{folder}: holds no model ({CONFIG} is missing)")
    try:
        return dict(json.loads(whole_text(path)))
    except ValueError as error:
        raise InputError(path, f"is not valid JSON ({error})") from None
