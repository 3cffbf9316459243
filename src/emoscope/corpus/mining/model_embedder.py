"""What an embedded model makes of a dialogue, as a vector: dialogues it feels alike about are near."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example
from emoscope.detector.bundle import resolve
from emoscope.detector.detector import Detector, load

MODELS = ("open", "default")
_LEAST = 1e-4  # a smaller probability says no more
_STRENGTH = 4.0  # a constant beside the logarithms, so that vectors of length one still tell how sure the model is


class ModelEmbedder:
    """The logarithms of the probabilities of all sets of labels, centred, and a constant for each set.

    `open` has learnt from GoEmotions and dialogues we wrote; `default` from the shared tasks' labels, too, so what it
    finds there says nothing of other data.
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
        return ModelEmbedder, (self._model,)  # another process loads its own

    def vectors(self, dialogues: Sequence[Dialogue]) -> NDArray[np.float32]:
        """A row for each dialogue."""
        examples = [Example.last(dialogue) for dialogue in dialogues]
        parts = []
        for head in self._heads:
            scores = np.log(np.maximum(head.predict_examples(examples), _LEAST))
            parts += [scores - scores.mean(axis=1, keepdims=True), np.full((len(scores), 1), _STRENGTH)]
        return np.ascontiguousarray(np.concatenate(parts, axis=1), np.float32)
