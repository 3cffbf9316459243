"""AlexU at EmotionX: a first BERT tells neutral utterances from the others, a second which emotion the others have."""

from typing import ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Cascade
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import BERT_SUBSTITUTE, ClassWeight, FineTuningSettings


class AlexUSettings(FineTuningSettings):
    """BERT's usual values."""

    class_weight: ClassWeight = "balanced"
    """Class weights of the loss: none, balanced or root."""


class AlexU(System):
    """A cascade of two transformers with weighted losses."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="alexu",
        summary="cascade of two fine-tuned BERTs: neutral or not, then joy, sadness or anger; weighted loss",
        tasks=("emotionx-friends", "emotionx-push"),
        team="AlexU",
        citation=(
            "Shmueli, Ku (2019). SocialNLP EmotionX 2019 Challenge Overview: "
            "Predicting Emotions in Spoken Dialogues and Chats. arXiv:1909.07734."
        ),
        substitutions=(BERT_SUBSTITUTE,),
    )
    settings_class = AlexUSettings
    settings: AlexUSettings

    def build(self) -> Block:
        neutral, get = str(self.task.metadata.neutral_label), self.settings
        emotions = [label for label in self.task.labels if label != neutral]
        gate = get.fine_tuned([neutral, "emotional"], class_weight=get.class_weight)
        return Cascade([gate, get.fine_tuned(emotions, class_weight=get.class_weight)], self.task.labels, neutral)
