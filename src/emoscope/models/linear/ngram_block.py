"""nano's n-grams as a block, so that an ensemble may have one member that sees emoji and spellings as they are."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats
from emoscope.models.linear.nano import NanoModel


class NgramBlock(Block):
    """Hashed word and character n-grams of the last three turns in a linear classifier; `settings` are nano's."""

    def __init__(self, labels: Sequence[str], **settings: Any) -> None:
        self.labels = tuple(labels)
        self.settings = settings
        self.model: NanoModel | None = None

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """Learn the label of each example."""
        self.model = NanoModel(**self.settings, seed=fitting.seed)
        self.model.fit([example.context for example in examples], labels)
        return self

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        """The probability of each label; 0 for one that training did not have."""
        if self.model is None:
            raise EmoscopeError("this model has not been fitted")
        answers = np.zeros((len(examples), len(self.labels)))
        if examples:
            found = self.model.predict_proba([example.context for example in examples])
            answers[:, [self.labels.index(label) for label in self.model.labels]] = found
        return answers

    def config(self) -> dict[str, Any]:
        """The constructor's arguments, as JSON."""
        return {"labels": list(self.labels), **self.settings}

    def save_weights(self, folder: Path) -> None:
        """Write what was learnt."""
        if self.model is None:
            raise EmoscopeError("this model has not been fitted")
        self.model.save(folder)

    def load_weights(self, folder: Path) -> None:
        """Read what was learnt."""
        self.model = NanoModel.load(folder)
