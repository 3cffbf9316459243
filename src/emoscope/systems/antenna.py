"""Antenna at EmotionX: a CNN over BERT's word vectors, and its sentence vectors, over the whole dialogue."""

from emoscope.models.block import Block
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import FrozenEncoderSettings


class AntennaSettings(FrozenEncoderSettings):
    """The overview gives no numbers; these are ours."""

    num_filters: int = 100
    """Filters of the CNN per size."""
    hidden_size: int = 128
    """Units of the GRU over utterances, in each direction."""
    dense_size: int = 128
    context: int = 24
    """Number of utterances read, the labelled one included; no dialogue is longer."""
    future: int = 24
    """Number of utterances read after the labelled one."""
    focal_gamma: float = 2.0
    """Exponent of the focal loss."""
    epochs: int = 6
    batch_size: int = 32
    dropout: float = 0.3


class Antenna(System):
    """CNN over frozen word vectors, residual bidirectional GRU over the utterances before and after; focal loss."""

    metadata = PUBLISHED["antenna"]
    settings: AntennaSettings

    def build(self) -> Block:
        settings = self.settings
        network = {
            "reader": "cnn",
            "sentence": True,
            "context_reader": "gru",
            "context_bidirectional": True,
            "residual": True,
            "context_hidden_size": settings.hidden_size,
            **settings.pick("num_filters", "context", "future"),
        }
        return settings.contextual(self.task.labels, network, focal_gamma=settings.focal_gamma)
