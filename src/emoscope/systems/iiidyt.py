"""IIIDYT at IEST: contextual word vectors, a wide BiLSTM, max-pooling; six networks averaged."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import TrainingSettings


class IiidytSettings(TrainingSettings):
    """The paper's values."""

    encoder: str = "bert-base-uncased"
    """Pretrained encoder of the word vectors: a name on the Hugging Face hub or a folder."""
    num_layers: int = 1
    """Last layers of the encoder that are averaged."""
    hidden_size: int = 2048
    """Units of the LSTM, in each direction."""
    dense_size: int = 512
    """Units of the layer before the output."""
    seeds: int = 6
    """Networks that are averaged."""
    epochs: int = 10
    dropout: float = 0.5
    """Share of units dropped of the word vectors."""
    output_dropout: float = 0.1
    """Share of units dropped before the output layer."""
    max_length: int = 128
    """Maximum number of tokens read."""


class Iiidyt(System):
    """Frozen word vectors, BiLSTM of 2048 units each way, max-pooling, a layer of 512; the masked word is the mask."""

    metadata = PUBLISHED["iiidyt"]
    settings: IiidytSettings

    def build(self) -> Block:
        settings, labels = self.settings, self.task.labels
        names = ("encoder", "num_layers", "hidden_size", "dense_size", "dropout", "output_dropout", "max_length")
        network = {"reader": "lstm", "pooling": "max", **settings.pick(*names)}
        return Mean(
            [settings.classifier(labels, "contextual", network, schedule="slanted") for _ in range(settings.seeds)]
        )
