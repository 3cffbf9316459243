"""CAiRE_HKUST at EmoContext: models of word and emotion vectors, hierarchical networks, and both together."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.models.features.base import Extractor
from emoscope.models.features.vectors import AveragedVectors
from emoscope.models.features.word_ratings import WordRatings
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.models.trees.boosting import XgboostClassifier
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class CaireHkust(Recipe):
    """Logistic regression and XGBoost over averaged vectors, and LSTMs over turns of LSTMs over words, averaged."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="caire-hkust",
        summary="logistic regression and XGBoost over word and emotion vectors, hierarchical attention LSTMs, averaged",
        tasks=("emocontext",),
        team="CAiRE_HKUST",
        citation=(
            "Winata, Madotto, Lin, Shin, Xu, Xu, Fung (2019). CAiRE_HKUST at SemEval-2019 Task 3: Hierarchical "
            "Attention for Dialogue Emotion Classification. SemEval-2019, 142-147."
        ),
        published={"emocontext": 0.7677},
        substitutions=(
            "ELMo, DeepMoji and Emo2Vec: valence-arousal-dominance ratings and emotion intensities of words",
            "GloVe 840B 300-d: GloVe 6B 100-d",
        ),
    )
    # `vectors="random"` needs no resources: random word vectors, and neither emoji vectors nor word ratings.
    defaults: ClassVar[Mapping[str, Any]] = {
        "seeds": 3,
        "epochs": 4,
        "batch": 64,
        "rate": 0.002,
        "hidden": 128,
        "embedding": 100,
        "vectors": "glove+emoji",
        "dropout": 0.4,
        "min_count": 2,
        "max_features": 20_000,
        "max_length": 60,
        "strength": 0.1,
        "rounds": 200,
        "boosting_rate": 0.1,
        "depth": 6,
    }

    def build(self) -> Block:
        """The mean of all; with three seeds the networks have the greater say, as they are the better models."""
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get, labels = self.settings, self.task.labels
        names = ("hidden", "embedding", "vectors", "dropout", "min_count", "max_features", "max_length")
        network = {"pooling": "attention", "context_pooling": "attention", **{name: get[name] for name in names}}
        training = Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"])
        return Mean(
            [
                LinearClassifier(labels, self.features(), strength=get["strength"], scale=True),
                XgboostClassifier(
                    labels,
                    self.features(),
                    rounds=get["rounds"],
                    rate=get["boosting_rate"],
                    depth=get["depth"],
                    column_share=0.5,
                    row_share=0.8,
                ),
                *(NeuralClassifier(labels, "hierarchical", network, training) for _ in range(get["seeds"])),
            ]
        )

    def features(self) -> list[Extractor]:
        """What the feature-based models see of each turn."""
        if self.settings["vectors"] == "random":
            return [AveragedVectors(vectors="random", size=self.settings["embedding"])]
        return [
            AveragedVectors(vectors="glove"),
            AveragedVectors(vectors="emoji2vec"),
            WordRatings(source="vad"),
            WordRatings(source="intensity"),
        ]
