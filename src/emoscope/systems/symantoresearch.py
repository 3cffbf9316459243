"""SymantoResearch at EmoContext: multi-task networks, a fine-tuned BERT and a sentence encoder, averaged."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import MixedSettings


class SymantoResearchSettings(MixedSettings):
    """The paper's values, and BERT's usual ones."""

    sentence_encoder: str | None = None
    """Encoder of the sentence vectors; by default `encoder`."""
    multi_task: float = 1.0
    """Loss weight of the additional task, others or an emotion."""


class SymantoResearch(System):
    """The mean of two networks with the additional task "others or an emotion", over joined and over separate turns;
    BERT fine-tuned on the three turns; and a network over the vectors of a frozen sentence encoder.
    """

    metadata = PUBLISHED["symantoresearch"]
    settings: SymantoResearchSettings

    def build(self) -> Block:
        fine_tuned = self.settings.fine_tuned(self.task.labels)
        return Mean([self._multi_task("recurrent"), self._multi_task("hierarchical"), fine_tuned, self._sentences()])

    def _multi_task(self, network: str) -> Block:
        from emoscope.models.torch.classifier import AuxiliaryHead, NeuralClassifier

        settings, labels = self.settings, self.task.labels
        neutral = str(self.task.metadata.neutral_label)
        head = AuxiliaryHead(((neutral,), tuple(label for label in labels if label != neutral)), settings.multi_task)
        return NeuralClassifier(
            labels, network, settings.words(), settings.training(**settings.network_training()), [head]
        )

    def _sentences(self) -> Block:
        settings = self.settings
        network = {
            "encoder": settings.sentence_encoder or settings.encoder,
            "reader": "none",
            "pooling": "mean",
            "context_reader": "gru",
            "context_hidden_size": settings.hidden_size,
            "dropout": 0.1,
            **settings.pick("context", "max_length"),
        }
        return settings.classifier(self.task.labels, "contextual", network, **settings.network_training())
