"""AlexU at EmotionX: a first BERT tells neutral utterances from the others, a second which emotion the others have."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Cascade
from emoscope.models.torch.fine_tuning import BERT_SUBSTITUTE, FINE_TUNING, fine_tuned
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class AlexU(Recipe):
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
    defaults: ClassVar[Mapping[str, Any]] = {**FINE_TUNING, "weighting": "balanced"}

    def build(self) -> Block:
        """The gate and, behind it, the classifier of emotions."""
        labels, weighting = self.task.labels, self.settings["weighting"]
        neutral = str(self.task.metadata.neutral_label)
        gate = fine_tuned([neutral, "emotional"], self.settings, weighting=weighting)
        emotions = fine_tuned([label for label in labels if label != neutral], self.settings, weighting=weighting)
        return Cascade([gate, emotions], labels, neutral)
