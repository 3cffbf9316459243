"""KU at EmotionX: BERT post-trained on the dialogues, max-pooled tokens, a vote of K folds."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Folds
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import ClassWeight, FurtherPretrainingSettings


class KuSettings(FurtherPretrainingSettings):
    """BERT's usual values, four utterances, and KU's pooling, class weights and folds."""

    pooling: str = "last-turn-max"
    context: int = 4
    hidden_size: int = 384
    """Units of a layer before the output; 0 for none."""
    folds: int = 5
    """Number of networks, each trained without one fold of the data."""
    class_weight: ClassWeight = "balanced"
    """Class weights of the loss: none, balanced or root."""


class Ku(System):
    """The utterance in context; post-training on masked words and next utterances of both corpora; weighted loss.

    The post-training text is that of both training files, so it is the same for every fold. It has no labels, but in a
    cross-validation it includes the held-out utterances.
    """

    metadata = PUBLISHED["ku"]
    settings: KuSettings

    def build(self) -> Block:
        settings = self.settings
        network = {"hidden_size": settings.hidden_size, **settings.pretraining("masked+next", "friends+emotionpush")}
        parts = [
            settings.fine_tuned(self.task.labels, class_weight=settings.class_weight, **network)
            for _ in range(settings.folds)
        ]
        return Folds(parts, vote=True)
