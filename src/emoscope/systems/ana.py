"""ANA at EmoContext: a fine-tuned BERT and a hierarchical LSTM over word, contextual and emoji vectors."""

from typing import ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import BERT_SUBSTITUTE, MixedSettings


class AnaSettings(MixedSettings):
    """The paper's values, and BERT's usual ones."""

    hidden_size: int = 256


class Ana(System):
    """The mean of BERT on the three turns and of an LSTM over turns, each turn read by an LSTM over its words."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="ana",
        summary="fine-tuned BERT and a hierarchical LSTM over word, contextual and emoji vectors, averaged",
        tasks=("emocontext",),
        team="ANA",
        citation=(
            "Huang, Trabelsi, Zaïane (2019). ANA at SemEval-2019 Task 3: Contextual Emotion detection in "
            "Conversations through hierarchical LSTMs and BERT. SemEval-2019, 49-53."
        ),
        published={"emocontext": 0.7709},
        substitutions=(
            BERT_SUBSTITUTE,
            "ELMo: the same encoder, frozen",
            "DeepMoji: emoji2vec vectors of emoji and emoticons",
            "GloVe 840B 300-d: GloVe 6B 100-d",
        ),
    )
    settings_class = AnaSettings
    settings: AnaSettings

    def build(self) -> Block:
        from emoscope.models.torch.classifier import NeuralClassifier

        get, labels = self.settings, self.task.labels
        network = get.words(encoder=get.encoder)
        hierarchical = NeuralClassifier(labels, "contextual-hierarchical", network, get.network_training())
        return Mean([get.fine_tuned(labels), hierarchical])
