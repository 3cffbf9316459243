"""The baseline of IEST's organisers."""

from emoscope.models.block import Block
from emoscope.models.features.ngrams import Ngrams
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import SystemSettings


class IestBaselineSettings(SystemSettings):
    """The paper gives no penalty; 1 is the default of scikit-learn."""

    C: float = 1.0
    """Inverse of the L2 penalty."""
    min_count: int = 1
    """Minimum number of tweets with an n-gram."""
    max_features: int | None = None
    """Maximum number of n-grams; null for all."""


class IestBaseline(System):
    """MaxEnt with an L2 penalty over the sets of a tweet's words and word pairs."""

    metadata = PUBLISHED["iest-baseline"]
    settings: IestBaselineSettings

    def build(self) -> Block:
        grams = Ngrams(
            lengths=(1, 2),
            weighting="boolean",
            turns=(0,),
            tokens="iest",
            **self.settings.pick("min_count", "max_features"),
        )
        return LinearClassifier(self.task.labels, [grams], C=self.settings.C)
