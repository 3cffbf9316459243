"""SNU_IDS at EmoContext: a semi-hierarchical network, and ways to close the gap between training and test classes."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe

# What a class weighting does to the prior that the network learns: the power its share is raised to.
_POWERS = {"none": 1.0, "root": 0.5, "balanced": 0.0}


class SnuIds(Recipe):
    """Words and characters of each turn, the last read in the light of the others; class weights, prior correction.

    Weighted classes are learnt as if they were more frequent; the correction knows that, so the two do not add up.
    """

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="snu-ids",
        summary="semi-hierarchical word and character network, class weights, class-prior correction",
        tasks=("emocontext",),
        team="SNU_IDS",
        citation=(
            "Bae, Choi, Lee (2019). SNU_IDS at SemEval-2019 Task 3: Addressing Training-Test Class Distribution "
            "Mismatch in Conversational Classification. SemEval-2019, 312-317."
        ),
        published={"emocontext": 0.7661},
        substitutions=("word vectors from tweets: GloVe 6B 100-d and emoji2vec",),
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "shift": "natural",
        "weighting": "balanced",
        "seeds": 3,
        "epochs": 4,
        "batch": 64,
        "rate": 0.002,
        "hidden": 128,
        "embedding": 100,
        "vectors": "glove+emoji",
        "dropout": 0.4,
        "word_dropout": 0.05,
        "min_count": 2,
        "max_features": 20_000,
        "max_length": 60,
    }

    def build(self) -> Block:
        """The mean of several networks."""
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get = self.settings
        if get["weighting"] not in _POWERS:
            raise EmoscopeError(f"weighting: expected {', '.join(_POWERS)}, found {get['weighting']!r}")
        names = (
            "hidden",
            "embedding",
            "vectors",
            "dropout",
            "word_dropout",
            "min_count",
            "max_features",
            "max_length",
        )
        network = {name: get[name] for name in names}
        training = Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"], weighting=get["weighting"])
        labels = self.task.labels
        return Mean([NeuralClassifier(labels, "semi-hierarchical", network, training) for _ in range(get["seeds"])])

    def fit(self, examples: Sequence[Example], fitting: FitContext | None = None) -> Self:
        """Learn, then note the prior that the weighted loss stands for."""
        super().fit(examples, fitting)
        assert self.prior is not None
        weighted = self.prior ** _POWERS[self.settings["weighting"]]
        self.prior = weighted / weighted.sum()
        return self
