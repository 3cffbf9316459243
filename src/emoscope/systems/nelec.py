"""Team NELEC at EmoContext: lexical features and classifiers' scores in boosted trees."""

from emoscope.models.block import Block
from emoscope.models.features.base import Extractor
from emoscope.models.features.ngrams import Ngrams
from emoscope.models.features.scores import ClassifierScores
from emoscope.models.features.style import Style
from emoscope.models.features.word_ratings import WordRatings
from emoscope.models.trees.boosting import LightGBM
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import SystemSettings


class NelecSettings(SystemSettings):
    """The paper's values, or LightGBM's defaults if it gives none."""

    num_boost_round: int = 400
    """Boosting rounds."""
    learning_rate: float = 0.1
    """Learning rate of LightGBM."""
    num_leaves: int = 31
    """Maximum number of leaves of a tree."""
    min_data_in_leaf: int = 20
    """Minimum number of examples in a leaf."""
    feature_fraction: float = 0.3
    """Share of the features used by each tree."""
    min_count: int = 10
    """Minimum number of texts with an n-gram."""
    max_features: int = 4000
    """Maximum number of n-grams per kind and turn."""
    pretraining_text: int = 60_000
    """Tweets to train each classifier score on; 0 leaves out everything that needs resources, also word ratings."""


class Nelec(System):
    """LightGBM over word and character n-grams, word ratings, style, and scores of other classifiers."""

    metadata = PUBLISHED["nelec"]
    settings: NelecSettings

    def build(self) -> Block:
        names = ("num_boost_round", "learning_rate", "num_leaves", "min_data_in_leaf", "feature_fraction")
        return LightGBM(self.task.labels, self.features(), **self.settings.pick(*names))

    def features(self) -> list[Extractor]:
        limits = self.settings.pick("min_count", "max_features")
        features: list[Extractor] = [
            Ngrams(unit="word", lengths=(1, 2), weighting="boolean", **limits),
            Ngrams(unit="char", lengths=(2, 4), weighting="boolean", **limits),
            Style(),
        ]
        if self.settings.pretraining_text:
            features += [
                WordRatings(source="vad"),
                WordRatings(source="intensity"),
                ClassifierScores(limit=self.settings.pretraining_text),
            ]
        return features
