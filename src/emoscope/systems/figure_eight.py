"""Figure Eight at EmoContext: an ensemble of ULMFiT models."""

from typing import Literal

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import LanguageModelSettings


class FigureEightSettings(LanguageModelSettings):
    """The sizes are AWD-LSTM's, for a GPU; embedding_size=200, hidden_size=400 and num_layers=2 suit two CPU cores."""

    embedding_size: int = 400
    """Size of the word vectors."""
    hidden_size: int = 1150
    """Units of the language model's layers."""
    num_layers: int = 3
    """LSTM layers of the language model."""
    dense_size: int = 50
    """Units of the layer before the output."""
    dropout: float = 0.5
    """Factor on all of AWD-LSTM's dropout rates."""
    directions: Literal["forward", "backward", "both"] = "both"
    """Reading directions of the language models."""
    seeds: int = 3
    """Fine-tuning runs per direction."""
    context: int = 3
    """Number of turns read, the labelled one included."""
    max_length: int = 100
    """Maximum number of words read; the last ones are kept."""
    min_count: int = 2
    """Minimum number of occurrences of a word in the vocabulary."""
    max_features: int = 30_000
    """Maximum size of the vocabulary."""
    pretraining_text: int | None = None
    """Maximum number of lines of tweets and comments for the language model; 0 for none, null for all."""
    epochs: int = 12
    learning_rate: float = 1e-2


class FigureEight(System):
    """Forward and backward language models, each fine-tuned from `seeds` random heads; all averaged.

    Discriminative learning rates, the slanted triangular schedule and gradual unfreezing are ULMFiT's.
    """

    metadata = PUBLISHED["figure-eight"]
    settings: FigureEightSettings

    def build(self) -> Block:
        from emoscope.models.torch.transfer import Transferred

        settings = self.settings
        directions = {"forward": [False], "backward": [True], "both": [False, True]}[settings.directions]
        of_training = {"epochs", "batch_size", "learning_rate", "precision", "directions", "seeds", "shift"}
        network = settings.model_dump(exclude=of_training)
        training = settings.training(schedule="slanted", gradual_unfreezing=True)
        return Mean(
            [
                Transferred(
                    self.task.labels, "ulmfit", {**network, "backward": backward}, training, copies=settings.seeds
                )
                for backward in directions
            ]
        )
