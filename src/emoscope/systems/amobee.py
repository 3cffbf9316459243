"""Amobee at IEST: a language model's guesses of the masked word, and encoders that learnt other affect tasks first."""

from collections.abc import Sequence

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import FurtherPretrainingSettings


class AmobeeSettings(FurtherPretrainingSettings):
    """The paper's values, and BERT's usual ones."""

    pooling: str = "mask"
    layer_decay: float = 0.9
    learning_rate: float = 3e-5
    source_epochs: int = 1
    """Passes over each of the other tasks."""
    source_batch_size: int = 64
    """Examples per training step on the other tasks."""
    pretraining_text: int | None = None
    """Maximum number of lines for the language model and of examples of each other task; 0 for none."""
    C: float = 1.0
    """Inverse of the L2 penalty of the linear model over the language model's guesses."""
    weights: tuple[float, ...] = (1.0, 1.0, 1.0)
    """Weights of the three models in the mean."""


class Amobee(System):
    """The mean of three models: a language model's probabilities of each emotion's trigger words at the masked word; an
    encoder first trained on sentiment and emotions of other data; one first trained to predict emoji, as in DeepMoji.
    """

    metadata = PUBLISHED["amobee"]
    settings: AmobeeSettings

    def build(self) -> Block:
        affect = ("semeval2017-4a", "goemotions-ekman", "tweeteval-emotion")
        parts = [self._guesses(), self._transferred(affect), self._transferred(("tweeteval-emoji",))]
        return Mean(parts, list(self.settings.weights))

    def _guesses(self) -> Block:
        from emoscope.models.linear.classifier import LinearClassifier
        from emoscope.models.torch.trigger_lm import TriggerWords

        names = ("encoder", "max_length", "pretraining_text", "lm_epochs", "lm_batch_size", "lm_learning_rate")
        words = TriggerWords(**self.settings.pick(*names))
        return LinearClassifier(self.task.labels, [words], C=self.settings.C, scale=True)

    def _transferred(self, sources: Sequence[str]) -> Block:
        from emoscope.models.torch.transfer import Transferred

        settings = self.settings
        return Transferred(
            self.task.labels,
            "transformer",
            settings.pick("context", "encoder", "pooling", "max_length", "dropout", "layer_decay"),
            settings.training(),
            sources=sources,
            source_training=settings.training(epochs=settings.source_epochs, batch_size=settings.source_batch_size),
            limit=settings.pretraining_text,
        )
