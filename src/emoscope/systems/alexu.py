"""AlexU at EmotionX: one BERT separates neutral utterances from the others, a second one classifies the others."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Cascade
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import ClassWeight, FineTuningSettings


class AlexUSettings(FineTuningSettings):
    """BERT's usual values."""

    class_weight: ClassWeight = "balanced"
    """Class weights of the loss: none, balanced or root."""


class AlexU(System):
    """A cascade of two transformers with weighted losses."""

    metadata = PUBLISHED["alexu"]
    settings: AlexUSettings

    def build(self) -> Block:
        neutral, settings = str(self.task.metadata.neutral_label), self.settings
        emotions = [label for label in self.task.labels if label != neutral]
        gate = settings.fine_tuned([neutral, "emotional"], class_weight=settings.class_weight)
        return Cascade(
            [gate, settings.fine_tuned(emotions, class_weight=settings.class_weight)], self.task.labels, neutral
        )
