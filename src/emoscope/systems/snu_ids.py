"""SNU_IDS at EmoContext: a semi-hierarchical network, corrected for the class mismatch of training and test data."""

from collections.abc import Sequence
from typing import Self

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import ClassWeight, Shift, WordNetworkSettings

# How class weights change the prior that the network learns: the exponent of the class shares.
_POWERS = {"none": 1.0, "root": 0.5, "balanced": 0.0}


class SnuIdsSettings(WordNetworkSettings):
    """The paper's values, or common ones if it gives none."""

    shift: Shift = "natural"
    class_weight: ClassWeight = "balanced"
    """Class weights of the loss: none, balanced or root."""
    seeds: int = 3
    """Number of networks that are averaged."""
    epochs: int = 4
    learning_rate: float = 0.002
    word_dropout: float = 0.05
    """Share of words replaced by the unknown word in training."""


class SnuIds(System):
    """Words and characters of each turn, the last one read in context; class weights, prior correction.

    Class weights act as if rare classes were more frequent, which the prior correction takes into account.
    """

    metadata = PUBLISHED["snu-ids"]
    settings: SnuIdsSettings

    def build(self) -> Block:
        settings = self.settings
        shape = (self.task.labels, "semi-hierarchical", settings.words(**settings.pick("hidden_size", "word_dropout")))
        return Mean([settings.classifier(*shape, class_weight=settings.class_weight) for _ in range(settings.seeds)])

    def fit(self, examples: Sequence[Example], fit_context: FitContext | None = None) -> Self:
        """Fit, then set the prior that the weighted loss implies."""
        super().fit(examples, fit_context)
        assert self.prior is not None
        weighted = self.prior ** _POWERS[self.settings.class_weight]
        self.prior = weighted / weighted.sum()
        return self
