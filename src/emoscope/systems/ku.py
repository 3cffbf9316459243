"""KU at EmotionX: BERT post-trained on the dialogues, its pieces max-pooled, a vote of K folds."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Folds
from emoscope.models.torch.fine_tuning import BERT_SUBSTITUTE, FINE_TUNING, FURTHER_PRETRAINING, fine_tuned
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class Ku(Recipe):
    """The utterance in its context; masked words and next utterances of both corpora first; weighted cross-entropy.

    The post-training text is that of both training files, so it is the same for every fold and read once. It has no
    labels, but in a cross-validation it does hold the utterances that are set aside.
    """

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="ku",
        summary="BERT post-trained on the dialogues, max-pooled pieces, weighted cross-entropy, K-fold majority vote",
        tasks=("emotionx-friends", "emotionx-push"),
        team="KU",
        citation=(
            "Yang, Lee, Whang, Lee, Lim (2019). EmotionX-KU: BERT-Max based Contextual Emotion Classifier. "
            "arXiv:1906.11565."
        ),
        substitutions=(BERT_SUBSTITUTE,),
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        **FINE_TUNING,
        **FURTHER_PRETRAINING,
        "pooling": "last-turn-max",
        "context": 4,
        "hidden": 384,
        "folds": 5,
        "weighting": "balanced",
    }

    def build(self) -> Block:
        """A transformer for each fold."""
        get = self.settings
        parts = [
            fine_tuned(
                self.task.labels,
                get,
                weighting=get["weighting"],
                pretraining="masked+next",
                pretraining_source="friends+emotionpush",
            )
            for _ in range(get["folds"])
        ]
        return Folds(parts, vote=True)
