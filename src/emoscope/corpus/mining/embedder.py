"""Turn dialogues into vectors: character n-grams, an embedded model, or a sentence encoder."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue

NGRAMS = "ngrams"
Floats = NDArray[np.floating[Any]]


class Embedder(Protocol):
    """Gives similar dialogues vectors with similar directions."""

    @property
    def name(self) -> str:
        """Identifies the embedder and its weights; vectors are reused only under the same name."""

    def vectors(self, dialogues: Sequence[Dialogue]) -> Floats:
        """A row for each dialogue, describing its last turn."""


class JoinedEmbedder:
    """Concatenates the unit vectors of several embedders."""

    def __init__(self, parts: Sequence[Embedder]) -> None:
        self._parts = parts
        self.name = "-".join(part.name for part in parts)

    def vectors(self, dialogues: Sequence[Dialogue]) -> Floats:
        """A row for each dialogue."""
        found = [unit_rows(np.asarray(part.vectors(dialogues), np.float32)) for part in self._parts]
        return np.ascontiguousarray(np.concatenate(found, axis=1))


def unit_rows(vectors: Floats) -> Floats:
    """Scale each vector to length one; a zero vector stays as it is.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def open_embedder(name: str = NGRAMS) -> Embedder:
    """Open `ngrams`, which needs no model, an embedded model (`open` or `default`), or a sentence encoder's folder.

    Embedders joined by "+", such as `ngrams+open`, weigh the same: the cosine is the mean of their cosines.
    """
    if "+" in name:
        return JoinedEmbedder([open_embedder(part) for part in name.split("+")])
    if name == NGRAMS:
        from emoscope.corpus.mining.ngrams import NgramEmbedder

        return NgramEmbedder()
    from emoscope.corpus.mining.model_embedder import MODELS, ModelEmbedder

    if name in MODELS:
        return ModelEmbedder(name)
    from emoscope.models.onnx.sentence_encoder import SentenceEncoder

    return SentenceEncoder(name)
