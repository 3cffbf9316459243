"""CYUT at EmotionX: word vectors and a bidirectional GRU, trained on augmented data with fewer neutral utterances."""

from collections.abc import Sequence

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.models.block import Block
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import WordNetworkSettings
from emoscope.tasks.datasets.augmentation import with_variants


class CyutSettings(WordNetworkSettings):
    """The overview gives few numbers; the others are common ones."""

    neutral_share: float = 0.5
    """Share of neutral utterances that is kept."""
    epochs: int = 6
    vectors: str = "glove"
    context: int = 1
    """Number of turns read, the labelled one included."""


class Cyut(System):
    """The turn alone, embedding, BiGRU, softmax; back-translations if the data has them."""

    metadata = PUBLISHED["cyut"]
    settings: CyutSettings

    def select(self, examples: Sequence[Example]) -> list[Example]:
        share = self.settings.neutral_share
        if not 0 < share <= 1:
            raise EmoscopeError(f"neutral_share: expected more than 0 and at most 1, found {share}")
        neutral = self.task.metadata.neutral_label
        draw = np.random.default_rng(self.seed)
        drawn = [e for e in super().select(examples) if e.label != neutral or draw.random() < share]
        return with_variants(drawn, [label for label in self.task.labels if label != neutral])

    def build(self) -> Block:
        network = self.settings.words(cell="gru", **self.settings.pick("hidden_size", "context"))
        return self.settings.classifier(self.task.labels, "recurrent", network)
