"""A block with two heads that answers evenly, as another package would add it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import pytest

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.detector.bundle import Bundle, Head
from emoscope.detector.model import FittedModel
from emoscope.models.block import BLOCKS, Block, Prediction

MOOD = Head(
    name="mood",
    labels=("calm", "glad", "cross"),
    trained={"calm": 0.5, "glad": 0.3, "cross": 0.2},
    prior={"calm": 0.6, "glad": 0.25, "cross": 0.15},
    decision={"calm": 1.0, "glad": 2.0, "cross": 4.5},
)
TONE = Head(name="tone", labels=("up", "down"), trained={"up": 0.7, "down": 0.3})


class Even(Block):
    """Without any knowledge: every label as likely as it was in training."""

    labels = (*MOOD.labels, *TONE.labels)

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        return self

    def infer(self, examples: Sequence[Example]) -> Prediction:
        return Prediction(np.tile([*MOOD.trained.values(), *TONE.trained.values()], (len(examples), 1)))

    def columns(self, head: str) -> slice:
        return slice(0, 3) if head == "mood" else slice(3, 5)

    def config(self) -> dict[str, Any]:
        return {}


def even_model() -> FittedModel:
    """The block with its heads."""
    return FittedModel(Bundle(name="mine", task="mood", heads=(MOOD, TONE)), Even())


@contextmanager
def registered(name: str, target: str) -> Iterator[None]:
    """The registry of blocks with one more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BLOCKS, "_entries", dict(BLOCKS._entries))
        BLOCKS.add(name, target)
        yield
