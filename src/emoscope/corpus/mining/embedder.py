"""What turns dialogues into vectors."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue

NGRAMS = "ngrams"
Floats = NDArray[np.floating[Any]]


class Embedder(Protocol):
    """Gives dialogues that express alike vectors of a like direction."""

    @property
    def name(self) -> str:
        """What the vectors depend on, weights included: vectors made under another name are not used."""

    def vectors(self, dialogues: Sequence[Dialogue]) -> Floats:
        """A row for each dialogue, about its last turn."""


def open_embedder(name: str) -> Embedder:
    """`ngrams`, which needs no model, or a sentence encoder's folder."""
    if name == NGRAMS:
        from emoscope.corpus.mining.ngrams import NgramEmbedder

        return NgramEmbedder()
    from emoscope.models.onnx.sentence_encoder import SentenceEncoder

    return SentenceEncoder(name)
