"""ANA at EmoContext: a fine-tuned BERT and a hierarchical LSTM over word, contextual and emoji vectors."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import MixedSettings


class AnaSettings(MixedSettings):
    """The paper's values, and BERT's usual ones."""

    hidden_size: int = 256


class Ana(System):
    """The mean of BERT on the three turns and of an LSTM over turns, which are read by an LSTM over words."""

    metadata = PUBLISHED["ana"]
    settings: AnaSettings

    def build(self) -> Block:
        settings, labels = self.settings, self.task.labels
        network = settings.words(encoder=settings.encoder)
        hierarchical = settings.classifier(labels, "contextual-hierarchical", network, **settings.network_training())
        return Mean([settings.fine_tuned(labels), hierarchical])
