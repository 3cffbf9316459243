"""HSU at EmotionX: BERT fine-tuned on the four labels, with augmented emotional examples."""

from collections.abc import Sequence

from emoscope.core.dialogue import Example
from emoscope.models.block import Block
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import FineTuningSettings
from emoscope.tasks.datasets.augmentation import with_variants

AUGMENTED = ("joy", "sadness", "anger")


class Hsu(System):
    """The utterance alone; back-translations of joy, sadness and anger if the data has them."""

    metadata = PUBLISHED["hsu"]
    settings: FineTuningSettings

    def select(self, examples: Sequence[Example]) -> list[Example]:
        return with_variants(super().select(examples), AUGMENTED)

    def build(self) -> Block:
        return self.settings.fine_tuned(self.task.labels)
