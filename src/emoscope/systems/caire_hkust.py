"""CAiRE_HKUST at EmoContext: models of word and emotion vectors, hierarchical networks, and both together."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.models.features.base import Extractor
from emoscope.models.features.vectors import AveragedVectors
from emoscope.models.features.word_ratings import WordRatings
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.models.trees.boosting import XGBoost
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import WordNetworkSettings


class CaireHkustSettings(WordNetworkSettings):
    """The paper's values, or common ones if it gives none."""

    vectors: str = "glove+emoji"
    """Word vectors; `random` needs no resources, and leaves out emoji vectors and word ratings."""
    seeds: int = 3
    """Number of hierarchical networks that are averaged."""
    epochs: int = 4
    learning_rate: float = 0.002
    C: float = 0.1
    """Inverse of the L2 penalty of the logistic regression."""
    num_boost_round: int = 200
    """Boosting rounds of XGBoost."""
    boosting_learning_rate: float = 0.1
    """Learning rate of XGBoost."""
    max_depth: int = 6
    """Depth of XGBoost's trees."""


class CaireHkust(System):
    """Logistic regression and XGBoost over averaged vectors, and LSTMs over turns of LSTMs over words, averaged."""

    metadata = PUBLISHED["caire-hkust"]
    settings: CaireHkustSettings

    def build(self) -> Block:
        """The mean of all models; with three seeds the networks, which are better, outweigh the others."""
        settings, labels = self.settings, self.task.labels
        network = settings.words(pooling="attention", context_pooling="attention", hidden_size=settings.hidden_size)
        return Mean(
            [
                LinearClassifier(labels, self.features(), C=settings.C, scale=True),
                XGBoost(
                    labels,
                    self.features(),
                    num_boost_round=settings.num_boost_round,
                    learning_rate=settings.boosting_learning_rate,
                    max_depth=settings.max_depth,
                    colsample_bytree=0.5,
                    subsample=0.8,
                ),
                *(settings.classifier(labels, "hierarchical", network) for _ in range(settings.seeds)),
            ]
        )

    def features(self) -> list[Extractor]:
        if self.settings.vectors == "random":
            return [AveragedVectors(vectors="random", size=self.settings.embedding_size)]
        return [
            AveragedVectors(vectors="glove"),
            AveragedVectors(vectors="emoji2vec"),
            WordRatings(source="vad"),
            WordRatings(source="intensity"),
        ]
