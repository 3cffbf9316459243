"""Features from a table of numbers for each word."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from emoscope.core.arrays import load_arrays, pack_words, save_arrays, unpack_words
from emoscope.models.features.base import Matrix, TurnExtractor, as_rows
from emoscope.models.features.tokens import chat_tokens

Floats32 = NDArray[np.float32]


@dataclass(eq=False, repr=False, kw_only=True)
class WordTable(TurnExtractor):
    """Per turn a summary of the rows of its known words; zeros if it has none. The whole table is saved."""

    file: ClassVar[str]
    stored_as: ClassVar[type[np.floating]] = np.float32
    table: Mapping[str, Floats32] = field(init=False, default_factory=dict)

    @abstractmethod
    def summary_size(self) -> int:
        """How many numbers a summary has."""

    @abstractmethod
    def summarise(self, known: Floats32, tokens: int) -> Floats32:
        """The summary of the known words' rows, in a turn of `tokens` tokens."""

    def transform_turn(self, texts: Sequence[str], _: int) -> Matrix:
        values = np.zeros((len(texts), self.summary_size()), np.float32)
        for row, tokens in enumerate(map(chat_tokens, texts)):
            word_rows = [self.table[token] for token in tokens if token in self.table]
            if word_rows:
                values[row] = self.summarise(np.array(word_rows), len(tokens))
        return as_rows(values)

    def save_weights(self, folder: Path) -> None:
        values = np.array(list(self.table.values()), self.stored_as)
        save_arrays(folder / self.file, {"words": pack_words(list(self.table)), "values": values})

    def load_weights(self, folder: Path) -> None:
        arrays = load_arrays(folder / self.file)
        self.table = dict(zip(unpack_words(arrays["words"]), arrays["values"].astype(np.float32), strict=True))
