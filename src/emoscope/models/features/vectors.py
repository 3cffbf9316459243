"""The mean of a turn's word vectors, and the mean of its emoji's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.features.base import (
    Extractor,
    Matrix,
    as_rows,
    load_arrays,
    pack_words,
    save_arrays,
    turn_texts,
    unpack_words,
)
from emoscope.models.features.tokens import chat_tokens

FILE = "vectors.npz"
_SOURCES = {"glove": "embeddings/glove.6B.100d.subset.npz", "emoji2vec": "embeddings/emoji2vec.bin"}


class AveragedVectors(Extractor):
    """Per turn, the mean vector of the tokens that have one.

    `vectors` is "glove", "emoji2vec", or "random": a vector of `size` for every word of the training data, which
    needs no resources.
    """

    def __init__(
        self,
        *,
        vectors: Literal["glove", "emoji2vec", "random"] = "glove",
        size: int = 100,
        turns: Sequence[int] = (0, 1, 2),
    ) -> None:
        if vectors not in (*_SOURCES, "random"):
            raise EmoscopeError(f"unknown vectors {vectors!r}; expected {', '.join(_SOURCES)} or random")
        self.vectors = vectors
        self.size = size
        self.turns = tuple(turns)
        self.table: Mapping[str, NDArray[np.float32]] = {}

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Read the vectors, or draw them."""
        del labels
        if self.vectors == "random":
            words = sorted({word for back in self.turns for t in turn_texts(examples, back) for word in chat_tokens(t)})
            values = np.random.default_rng(fit_context.seed).normal(size=(len(words), self.size)).astype(np.float32)
        else:
            from emoscope.models.torch.vectors import read_vectors

            read = read_vectors(fit_context.resource(_SOURCES[self.vectors]))
            # Tokens are cut without the sign that asks for the coloured form of an emoji.
            words, values = [word.replace("\ufe0f", "") for word in read.words], read.matrix
        # Rounded as they are saved, so that a model answers the same before and after.
        self.table = dict(zip(words, values.astype(np.float16).astype(np.float32), strict=True))
        return self

    def transform(self, examples: Sequence[Example]) -> Matrix:
        """Zeros where a turn has no token with a vector."""
        width = len(next(iter(self.table.values()))) if self.table else self.size
        values = np.zeros((len(examples), len(self.turns) * width), np.float32)
        for number, back in enumerate(self.turns):
            for row, text in enumerate(turn_texts(examples, back)):
                known = [self.table[token] for token in chat_tokens(text) if token in self.table]
                if known:
                    values[row, number * width : (number + 1) * width] = np.mean(known, axis=0)
        return as_rows(values)

    def config(self) -> dict[str, Any]:
        return {"vectors": self.vectors, "size": self.size, "turns": list(self.turns)}

    def save_weights(self, folder: Path) -> None:
        """All vectors, so that words the training data did not have are known too; half precision is plenty."""
        values = np.array(list(self.table.values()), np.float16)
        save_arrays(folder / FILE, {"words": pack_words(list(self.table)), "values": values})

    def load_weights(self, folder: Path) -> None:
        arrays = load_arrays(folder / FILE)
        self.table = dict(zip(unpack_words(arrays["words"]), arrays["values"].astype(np.float32), strict=True))
