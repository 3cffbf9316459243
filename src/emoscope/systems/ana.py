"""ANA at EmoContext: a fine-tuned BERT and a hierarchical LSTM over word, contextual and emoji vectors."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import MixedSettings


class AnaSettings(MixedSettings):
    """The paper's values, and BERT's usual ones."""

    hidden_size: int = 256


class Ana(System):
    """The mean of BERT on the three turns and of an LSTM over turns, each turn read by an LSTM over its words."""

    metadata = PUBLISHED["ana"]
    settings: AnaSettings

    def build(self) -> Block:
        get, labels = self.settings, self.task.labels
        network = get.words(encoder=get.encoder)
        hierarchical = get.classifier(labels, "contextual-hierarchical", network, **get.network_training())
        return Mean([get.fine_tuned(labels), hierarchical])
