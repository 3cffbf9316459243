"""CYUT at EmotionX: word vectors and a bidirectional GRU, trained on augmented data with fewer neutral utterances."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.models.block import Block
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe
from emoscope.tasks.datasets.augmentation import with_variants


class Cyut(Recipe):
    """The turn alone, embedding, BiGRU, softmax; back-translations where the data have them."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="cyut",
        summary="embedding and bidirectional GRU, back-translations of emotional turns, neutral ones filtered",
        tasks=("emotionx-friends", "emotionx-push"),
        learns_from="augmented",
        team="CYUT",
        citation=(
            "Shmueli, Ku (2019). SocialNLP EmotionX 2019 Challenge Overview: "
            "Predicting Emotions in Spoken Dialogues and Chats. arXiv:1909.07734."
        ),
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "neutral_share": 0.5,  # of the neutral utterances, how many are kept
        "epochs": 6,
        "batch": 64,
        "rate": 0.001,
        "hidden": 128,
        "embedding": 100,
        "vectors": "glove",
        "dropout": 0.4,
        "context": 1,
        "min_count": 2,
        "max_features": 20_000,
        "max_length": 60,
    }

    def select(self, examples: Sequence[Example]) -> list[Example]:
        """Emotional utterances with their variants, and some of the neutral ones, drawn by the seed."""
        share = self.settings["neutral_share"]
        if not 0 < share <= 1:
            raise EmoscopeError(f"neutral_share: expected more than 0 and at most 1, found {share}")
        neutral = self.task.metadata.neutral_label
        draw = np.random.default_rng(self.seed)
        kept = [e for e in self.learnable(examples) if e.label != neutral or draw.random() < share]
        return with_variants(kept, [label for label in self.task.labels if label != neutral])

    def build(self) -> Block:
        """One recurrent network."""
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get = self.settings
        names = (
            "hidden",
            "embedding",
            "vectors",
            "dropout",
            "context",
            "min_count",
            "max_features",
            "max_length",
        )
        network = {"cell": "gru", **{name: get[name] for name in names}}
        training = Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"])
        return NeuralClassifier(self.task.labels, "recurrent", network, training)
