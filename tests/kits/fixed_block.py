"""A block whose answers are known beforehand."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.block import BLOCKS, Block, Prediction


class Fixed(Block):
    """Gives the same probabilities to everything, and remembers what it was taught.

    With `longest` it reads that many turns; without, it does not tell what it reads.
    """

    def __init__(self, labels: Sequence[str], answer: Sequence[float], longest: int | None = None) -> None:
        self.labels = tuple(labels)
        self.answer = list(answer)
        self.longest = longest
        self.taught: list[list[str]] = []
        self.seeds: list[int] = []

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        assert len(examples) == len(labels)
        self.taught.append(list(labels))
        self.seeds.append(fit_context.seed)
        return self

    def infer(self, examples: Sequence[Example]) -> Prediction:
        longest = self.longest
        truncated = None if longest is None else np.array([example.turn >= longest for example in examples])
        return Prediction(np.tile(np.array(self.answer), (len(examples), 1)), truncated)

    def config(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "answer": self.answer, "longest": self.longest}


BLOCKS.add("fixed-for-tests", "kits.fixed_block:Fixed")
