"""The baseline that IEST's organisers gave to all participants."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.features.ngrams import Ngrams
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class IestBaseline(Recipe):
    """MaxEnt with an L2 penalty over the sets of a tweet's words and word pairs."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="iest-baseline",
        summary="MaxEnt with L2 over Boolean unigrams and bigrams, the paper's token pattern, symbols removed",
        tasks=("iest",),
        team="Baseline",
        networks=False,
        citation=(
            "Klinger, De Clercq, Mohammad, Balahur (2018). IEST: WASSA-2018 Implicit Emotions Shared Task. "
            "WASSA-2018, 31-42."
        ),
        published={"iest": 0.5988},
    )
    # The paper gives no penalty; 1 is the usual one.
    defaults: ClassVar[Mapping[str, Any]] = {"strength": 1.0, "min_count": 1, "max_features": None}

    def build(self) -> Block:
        """One linear model over one kind of feature."""
        grams = Ngrams(
            lengths=(1, 2),
            weighting="boolean",
            turns=(0,),
            tokens="iest",
            min_count=self.settings["min_count"],
            max_features=self.settings["max_features"],
        )
        return LinearClassifier(self.task.labels, [grams], strength=self.settings["strength"])
