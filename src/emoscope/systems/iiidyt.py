"""IIIDYT at IEST: contextual word vectors, a wide BiLSTM, max-pooling; six networks averaged."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import FrozenEncoderSettings


class IiidytSettings(FrozenEncoderSettings):
    """The paper's values."""

    hidden_size: int = 2048
    """Units of the LSTM, in each direction."""
    seeds: int = 6
    """Number of networks that are averaged."""
    epochs: int = 10
    output_dropout: float = 0.1
    """Dropout rate before the output layer."""


class Iiidyt(System):
    """Frozen word vectors, BiLSTM of 2048 units each way, max-pooling, a layer of 512; the masked word is the mask."""

    metadata = PUBLISHED["iiidyt"]
    settings: IiidytSettings

    def build(self) -> Block:
        settings, labels = self.settings, self.task.labels
        network = {"reader": "lstm", "pooling": "max", **settings.pick("hidden_size", "output_dropout")}
        return Mean([settings.contextual(labels, network, schedule="slanted") for _ in range(settings.seeds)])
