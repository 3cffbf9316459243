"""The mean of a turn's word vectors, and the mean of its emoji's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.features.base import turn_texts
from emoscope.models.features.tokens import chat_tokens
from emoscope.models.features.word_table import Floats32, WordTable

_SOURCES = {"glove": "embeddings/glove.6B.100d.subset.npz", "emoji2vec": "embeddings/emoji2vec.bin"}


@dataclass(eq=False, repr=False, kw_only=True)
class AveragedVectors(WordTable):
    """Per turn, the mean vector of the tokens that have one.

    `vectors` is "glove", "emoji2vec", or "random": a vector of `size` for every word of the training data, which
    needs no resources.
    """

    file = "vectors.npz"
    stored_as = np.float16  # half precision is enough
    vectors: Literal["glove", "emoji2vec", "random"] = "glove"
    size: int = 100

    def __post_init__(self) -> None:
        if self.vectors not in (*_SOURCES, "random"):
            raise EmoscopeError(f"unknown vectors {self.vectors!r}; expected {', '.join(_SOURCES)} or random")

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        del labels
        if self.vectors == "random":
            words = sorted({word for back in self.turns for t in turn_texts(examples, back) for word in chat_tokens(t)})
            values = np.random.default_rng(fit_context.seed).normal(size=(len(words), self.size)).astype(np.float32)
        else:
            from emoscope.models.torch.vectors import read_vectors

            read = read_vectors(fit_context.resource(_SOURCES[self.vectors]))
            # Tokens have no variation selector, which asks for the coloured form of an emoji.
            words, values = [word.replace("\ufe0f", "") for word in read.words], read.matrix
        # Rounded as when saved, so that a model gives the same probabilities before and after.
        self.table = dict(zip(words, values.astype(np.float16).astype(np.float32), strict=True))
        return self

    def summary_size(self) -> int:
        return len(next(iter(self.table.values()))) if self.table else self.size

    def summarise(self, known: Floats32, tokens: int) -> Floats32:
        del tokens
        return np.asarray(known.mean(0))
