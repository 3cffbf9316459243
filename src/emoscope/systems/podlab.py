"""Team Podlab at EmotionX 2019: a shallow model, on purpose."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.features.ranked_words import RankedWords
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class Podlab(Recipe):
    """The words that rank high for some emotion, one-hot, in a linear SVM; with or without the utterance before."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="podlab",
        summary="one-hot of the words that rank high by per-emotion TF-IDF, linear SVM, with the previous utterance",
        tasks=("emotionx-friends", "emotionx-push"),
        team="Podlab",
        networks=False,
        citation=(
            "Podlab (2019), as described in: Shmueli, Ku (2019). SocialNLP EmotionX 2019 Challenge Overview: "
            "Predicting Emotions in Spoken Dialogues and Chats. arXiv:1909.07734."
        ),
    )
    # The overview gives no numbers: how many words per emotion and the SVM's penalty are ours.
    defaults: ClassVar[Mapping[str, Any]] = {"previous": True, "max_features": 2000, "strength": 0.1}

    def build(self) -> Block:
        """A linear SVM over the ranked words of one utterance or two."""
        turns = (0, 1) if self.settings["previous"] else (0,)
        words = RankedWords(top=self.settings["max_features"], turns=turns)
        return LinearClassifier(self.task.labels, [words], kind="svm", strength=self.settings["strength"])
