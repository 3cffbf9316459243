"""HSU at EmotionX: BERT fine-tuned on the four labels, with more examples of the emotional ones."""

from collections.abc import Sequence
from typing import ClassVar

from emoscope.core.dialogue import Example
from emoscope.models.block import Block
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import BERT_SUBSTITUTE, FineTuningSettings
from emoscope.tasks.datasets.augmentation import with_variants

AUGMENTED = ("joy", "sadness", "anger")


class Hsu(System):
    """The utterance alone; back-translations of joy, sadness and anger where the data have them."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="hsu",
        summary="BERT fine-tuned on the four labels, back-translations of joy, sadness and anger",
        tasks=("emotionx-friends", "emotionx-push"),
        learns_from="augmented",
        team="HSU",
        citation=(
            "Luo, Wang (2019). EmotionX-HSU: Adopting Pre-trained BERT for Emotion Classification. arXiv:1907.09669."
        ),
        published={"emotionx-friends": 0.791, "emotionx-push": 0.862},
        substitutions=(BERT_SUBSTITUTE,),
    )
    settings_class = FineTuningSettings
    settings: FineTuningSettings

    def select(self, examples: Sequence[Example]) -> list[Example]:
        """The examples of the four labels, the emotional ones with their back-translations."""
        return with_variants(self.learnable(examples), AUGMENTED)

    def build(self) -> Block:
        return self.settings.fine_tuned(self.task.labels)
