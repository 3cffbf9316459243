"""SNU_IDS at EmoContext: a semi-hierarchical network, and ways to close the gap between training and test classes."""

from collections.abc import Sequence
from typing import Literal, Self

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import ClassWeight, WordNetworkSettings

# How class weights change the prior that the network learns: the power to which its shares are raised.
_POWERS = {"none": 1.0, "root": 0.5, "balanced": 0.0}


class SnuIdsSettings(WordNetworkSettings):
    """The paper's values, and usual ones where it gives none."""

    shift: Literal["none", "natural", "estimate"] = "natural"
    class_weight: ClassWeight = "balanced"
    """Class weights of the loss: none, balanced or root."""
    seeds: int = 3
    """Networks that are averaged."""
    epochs: int = 4
    learning_rate: float = 0.002
    word_dropout: float = 0.05
    """Share of words replaced by the unknown word in training."""


class SnuIds(System):
    """Words and characters of each turn, the last read in the light of the others; class weights, prior correction.

    Class weights act as if rare classes were more frequent; the prior correction takes that into account.
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
