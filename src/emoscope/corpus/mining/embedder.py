"""What turns dialogues into vectors: character n-grams, or a sentence encoder."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue

NGRAMS = "ngrams"
Floats = NDArray[np.floating[Any]]


class Embedder(Protocol):
    """Gives similar dialogues vectors of a similar direction."""

    @property
    def name(self) -> str:
        """Identifies the embedder and its weights; vectors are only reused under the same name."""

    def vectors(self, dialogues: Sequence[Dialogue]) -> Floats:
        """A row for each dialogue, about its last turn."""


def open_embedder(name: str = NGRAMS) -> Embedder:
    """`ngrams`, which needs no model, or the sentence encoder in a folder."""
    if name == NGRAMS:
        from emoscope.corpus.mining.ngrams import NgramEmbedder

        return NgramEmbedder()
    from emoscope.models.onnx.sentence_encoder import SentenceEncoder

    return SentenceEncoder(name)
