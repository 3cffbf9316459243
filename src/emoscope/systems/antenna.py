"""Antenna at EmotionX: BERT's word vectors through a CNN, beside its sentence vectors, read over the whole dialogue."""

from emoscope.models.block import Block
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import TrainingSettings


class AntennaSettings(TrainingSettings):
    """The paper's values."""

    encoder: str = "bert-base-uncased"
    """Pretrained encoder of the word vectors: a name on the Hugging Face hub or a folder."""
    num_layers: int = 1
    """Last layers of the encoder that are averaged."""
    num_filters: int = 100
    """Filters of each size of the CNN."""
    hidden_size: int = 128
    """Units of the GRU over utterances, in each direction."""
    dense_size: int = 128
    """Units of the layer before the output."""
    context: int = 24
    """Utterances that are read, the labelled one included; no dialogue is longer."""
    future: int = 24
    """Utterances that are read after the labelled one."""
    focal_gamma: float = 2.0
    """Exponent of the focal loss."""
    epochs: int = 6
    batch_size: int = 32
    dropout: float = 0.3
    """Share of units dropped of the word vectors."""
    max_length: int = 128
    """Maximum number of tokens read of an utterance."""


class Antenna(System):
    """CNN over frozen word vectors, residual bidirectional GRU over the utterances before and after; focal loss."""

    metadata = PUBLISHED["antenna"]
    settings: AntennaSettings

    def build(self) -> Block:
        settings = self.settings
        names = ("encoder", "num_layers", "num_filters", "dense_size", "context", "future", "dropout", "max_length")
        network = {
            "reader": "cnn",
            "sentence": True,
            "context_reader": "gru",
            "context_bidirectional": True,
            "residual": True,
            "context_hidden_size": settings.hidden_size,
            **settings.pick(*names),
        }
        return settings.classifier(self.task.labels, "contextual", network, focal_gamma=settings.focal_gamma)
