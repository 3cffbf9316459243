"""Team Podlab at EmotionX 2019: a shallow model, on purpose."""

from emoscope.models.block import Block
from emoscope.models.features.ranked_words import RankedWords
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import SystemSettings


class PodlabSettings(SystemSettings):
    """The overview gives no numbers; these are ours."""

    previous: bool = True
    """Whether the words of the previous utterance are features, too."""
    max_features: int = 2000
    """Number of words per emotion."""
    C: float = 0.1
    """Inverse of the L2 penalty."""


class Podlab(System):
    """A linear SVM over the words that rank high for an emotion, of the utterance and optionally the previous one."""

    metadata = PUBLISHED["podlab"]
    settings: PodlabSettings

    def build(self) -> Block:
        turns = (0, 1) if self.settings.previous else (0,)
        words = RankedWords(top=self.settings.max_features, turns=turns)
        return LinearClassifier(self.task.labels, [words], kind="svm", C=self.settings.C)
