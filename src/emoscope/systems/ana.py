"""ANA at EmoContext: a fine-tuned BERT and a hierarchical LSTM over word, contextual and emoji vectors."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.models.torch.fine_tuning import BERT_SUBSTITUTE, FINE_TUNING, fine_tuned
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class Ana(Recipe):
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
    defaults: ClassVar[Mapping[str, Any]] = {
        **FINE_TUNING,
        "context": 3,
        "max_length": 100,
        "network_epochs": 5,
        "network_batch": 64,
        "network_rate": 1e-3,
        "network_dropout": 0.4,
        "hidden": 256,
        "embedding": 100,
        "vectors": "glove+emoji",
        "min_count": 2,
        "max_features": 20_000,
    }

    def build(self) -> Block:
        """Both, each with the same say."""
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get = self.settings
        names = ("encoder", "context", "max_length", "hidden", "embedding", "vectors", "min_count", "max_features")
        chosen = {"pooling": "max", "dropout": get["network_dropout"], **{name: get[name] for name in names}}
        training = Training(epochs=get["network_epochs"], batch=get["network_batch"], rate=get["network_rate"])
        hierarchical = NeuralClassifier(self.task.labels, "contextual-hierarchical", chosen, training)
        # What `hidden` says is meant for the LSTMs.
        return Mean([fine_tuned(self.task.labels, get, hidden=0), hierarchical])
