"""Team Podlab at EmotionX 2019: a shallow model, on purpose."""

from typing import ClassVar

from emoscope.models.block import Block
from emoscope.models.features.ranked_words import RankedWords
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import SystemSettings


class PodlabSettings(SystemSettings):
    """The overview gives no numbers: they are ours."""

    previous: bool = True
    """Whether the words of the previous utterance are features, too."""
    max_features: int = 2000
    """Words per emotion."""
    C: float = 0.1
    """Inverse of the L2 penalty."""


class Podlab(System):
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
    settings_class = PodlabSettings
    settings: PodlabSettings

    def build(self) -> Block:
        turns = (0, 1) if self.settings.previous else (0,)
        words = RankedWords(top=self.settings.max_features, turns=turns)
        return LinearClassifier(self.task.labels, [words], kind="svm", C=self.settings.C)
