"""Vectors from an embedded model's predictions: dialogues with similar predictions are close."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example
from emoscope.detector.bundle import resolve
from emoscope.detector.detector import Detector, load

MODELS = ("open", "default")
_LEAST = 1e-4  # smaller probabilities are clipped
_STRENGTH = 4.0  # a constant added to the log probabilities, so that unit vectors still show how confident the model is


class ModelEmbedder:
    """The centred log probabilities of every label set, and a constant for each set.

    `open` was trained on GoEmotions and dialogues we wrote; `default` also on the shared tasks' labels, so its results
    on those say nothing about other data.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        folder = resolve(model)
        digest = blake2b(digest_size=8)
        for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (".json", ".bin")):
            digest.update(file.read_bytes())
        self.name = f"model-{model}-{_STRENGTH:g}-{digest.hexdigest()}"
        first = load(model)
        self._heads: list[Detector] = [first.with_(labels=head) for head in first.heads]

    def __reduce__(self) -> tuple[type["ModelEmbedder"], tuple[str]]:
        return ModelEmbedder, (self._model,)  # each process loads its own model

    def vectors(self, dialogues: Sequence[Dialogue]) -> NDArray[np.float32]:
        """A row for each dialogue."""
        examples = [Example.last(dialogue) for dialogue in dialogues]
        parts = []
        for head in self._heads:
            scores = np.log(np.maximum(head.predict_examples(examples), _LEAST))
            parts += [scores - scores.mean(axis=1, keepdims=True), np.full((len(scores), 1), _STRENGTH)]
        return np.ascontiguousarray(np.concatenate(parts, axis=1), np.float32)
