"""A bundle of one or more encoders with heads: one pass answers with every set of labels."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import Bundle, Head
from emoscope.models.label_shift import prior_vector
from emoscope.models.onnx.network import EncoderNetwork
from emoscope.models.probabilities import softmax

Floats = NDArray[np.float64]
NETWORKS = "network*"  # the folders of the networks; what several answer is averaged


class EncoderModel:
    """Networks whose scores are those of the heads, side by side."""

    def __init__(self, networks: Sequence[EncoderNetwork], heads: Sequence[Head]) -> None:
        self._networks = tuple(networks)
        self.heads = tuple(heads)
        for head in heads:
            if not head.labels or set(head.trained or ()) != set(head.labels):
                raise EmoscopeError(f"head {head.name}: expected labels, and the mix of them it was trained on")

    @classmethod
    def load(cls, folder: Path, bundle: Bundle) -> "EncoderModel":
        """Read the networks of a bundle."""
        folders = sorted(path for path in folder.glob(NETWORKS) if path.is_dir())
        if not folders or not bundle.heads:
            raise EmoscopeError(f"{folder}: holds no encoder (expected a folder {NETWORKS} and heads)")
        return cls([EncoderNetwork.load(path) for path in folders], bundle.heads)

    def head(self, name: str) -> "EncoderHead":
        """The model with one set of labels, as the detector uses it."""
        return EncoderHead(self, next(head for head in self.heads if head.name == name))

    def predict_heads(self, dialogues: Sequence[Dialogue]) -> dict[str, Floats]:
        """The calibrated probabilities of every head's labels, from one pass."""
        if not dialogues:
            return {head.name: np.zeros((0, len(head.labels))) for head in self.heads}
        answers = {head.name: np.zeros((len(dialogues), len(head.labels))) for head in self.heads}
        total = sum(network.weight for network in self._networks)
        for network in self._networks:
            scores = network.scores(dialogues)
            first = 0
            for head in self.heads:
                columns = scores[:, first : first + len(head.labels)]
                answers[head.name] += softmax(columns / head.temperature) * (network.weight / total)
                first += len(head.labels)
        return answers

    def truncates(self, dialogue: Dialogue) -> bool:
        """Whether a part of the dialogue is read by none of the networks."""
        return all(network.truncates(dialogue) for network in self._networks)


class EncoderHead:
    """One head of a model."""

    def __init__(self, model: EncoderModel, head: Head) -> None:
        self.model = model
        self.labels = head.labels
        self.prior = prior_vector(head.trained or {}, head.labels)
        self._name = head.name

    def predict_proba(self, dialogues: Sequence[Dialogue]) -> Floats:
        """The probability of each label under the training prior."""
        return self.model.predict_heads(dialogues)[self._name]

    def truncates(self, dialogue: Dialogue) -> bool:
        """Whether a part of the dialogue is not read."""
        return self.model.truncates(dialogue)
