"""Team NELEC at EmoContext: lexical features and classifiers' scores in boosted trees."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.features.base import Extractor
from emoscope.models.features.ngrams import Ngrams
from emoscope.models.features.scores import ClassifierScores
from emoscope.models.features.style import Style
from emoscope.models.features.word_ratings import WordRatings
from emoscope.models.trees.boosting import LightGbmClassifier
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class Nelec(Recipe):
    """Word and character n-grams, word ratings, style and scores of other classifiers; LightGBM over all of them."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="nelec",
        summary="word and character n-grams, valence-arousal-dominance, emotion intensity, sentiment and offensive "
        "scores, LightGBM",
        tasks=("emocontext",),
        team="NELEC",
        networks=False,
        citation=(
            "Agrawal, Suri (2019). NELEC at SemEval-2019 Task 3: Think Twice Before Going Deep. SemEval-2019, 266-271."
        ),
        published={"emocontext": 0.7765},
        substitutions=(
            "the authors' own sentiment and offensive networks: linear classifiers trained on SemEval-2017 4A and "
            "TweetEval",
            "an adult-content score: left out, there are no open data for it",
            "the emotion-intensity lexicon: words' intensities learnt from GoEmotions",
        ),
    )
    # `pretraining_text` limits the tweets that each score is learnt from; 0 leaves out all that needs resources, the
    # word ratings too.
    defaults: ClassVar[Mapping[str, Any]] = {
        "rounds": 400,
        "rate": 0.1,
        "leaves": 31,
        "min_leaf": 20,
        "column_share": 0.3,
        "min_count": 10,
        "max_features": 4000,
        "pretraining_text": 60000,
    }

    def build(self) -> Block:
        """Boosted trees over a union of features."""
        chosen = self.settings
        return LightGbmClassifier(
            self.task.labels,
            self.features(),
            rounds=chosen["rounds"],
            rate=chosen["rate"],
            leaves=chosen["leaves"],
            min_leaf=chosen["min_leaf"],
            column_share=chosen["column_share"],
        )

    def features(self) -> list[Extractor]:
        """What the trees see."""
        limits = {"min_count": self.settings["min_count"], "max_features": self.settings["max_features"]}
        features: list[Extractor] = [
            Ngrams(unit="word", lengths=(1, 2), weighting="boolean", **limits),
            Ngrams(unit="char", lengths=(2, 4), weighting="boolean", **limits),
            Style(),
        ]
        if self.settings["pretraining_text"]:
            features += [
                WordRatings(source="vad"),
                WordRatings(source="intensity"),
                ClassifierScores(limit=self.settings["pretraining_text"]),
            ]
        return features
