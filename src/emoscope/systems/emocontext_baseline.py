"""The baseline of EmoContext's starter kit: GloVe vectors and one LSTM over the three turns."""

from emoscope.models.block import Block
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import WordNetworkSettings


class EmoContextBaselineSettings(WordNetworkSettings):
    """The starter kit's values."""

    epochs: int = 30
    """Maximum number of passes over the training data; a tenth is held out for early stopping."""
    patience: int = 3
    """Epochs without a lower held-out loss before training stops."""
    batch_size: int = 200
    learning_rate: float = 0.003
    vectors: str = "glove"
    dropout: float = 0.2
    min_count: int = 1
    max_length: int = 100
    """Maximum number of words read; the last ones are kept."""


class EmoContextBaseline(System):
    """Turns joined by `<eos>`, fixed GloVe 100-d, LSTM 128, softmax."""

    metadata = PUBLISHED["emocontext-baseline"]
    settings: EmoContextBaselineSettings

    def build(self) -> Block:
        settings = self.settings
        network = settings.words(
            tokens="starter", bidirectional=False, trainable=False, hidden_size=settings.hidden_size
        )
        training = {
            "schedule": "constant",
            "warmup_ratio": 0.0,
            "validation_fraction": 0.1,
            "patience": settings.patience,
        }
        return settings.classifier(self.task.labels, "recurrent", network, **training)
