"""SymantoResearch at EmoContext: multi-task networks, a fine-tuned BERT and a sentence encoder, averaged."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.models.torch.fine_tuning import BERT_SUBSTITUTE, FINE_TUNING, fine_tuned
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe

if TYPE_CHECKING:
    from emoscope.models.torch.training import Training


class SymantoResearch(Recipe):
    """Two networks that also learn "others or an emotion?", one over all turns in a row, one over each turn apart;
    BERT fine-tuned on the three turns; and a network over the fixed vectors of a sentence encoder.
    """

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="symantoresearch",
        summary="multi-task networks (others or an emotion?), a fine-tuned BERT and sentence vectors, averaged",
        tasks=("emocontext",),
        team="SymantoResearch",
        citation=(
            "Basile, Franco-Salvador, Pawar, Štajner, Chinea Rios, Benajiba (2019). SymantoResearch at SemEval-2019 "
            "Task 3: Combined Neural Models for Emotion Classification in Human-Chatbot Conversations. "
            "SemEval-2019, 330-334."
        ),
        published={"emocontext": 0.7731},
        substitutions=(
            BERT_SUBSTITUTE,
            "Universal Sentence Encoder: the encoder of the setting sentence_encoder, or else that of encoder",
            "word vectors from tweets: GloVe 6B 100-d and emoji2vec",
        ),
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        **FINE_TUNING,
        "context": 3,
        "max_length": 100,
        "sentence_encoder": None,
        "network_epochs": 5,
        "network_batch": 64,
        "network_rate": 1e-3,
        "network_dropout": 0.4,
        "hidden": 128,
        "embedding": 100,
        "vectors": "glove+emoji",
        "min_count": 2,
        "max_features": 20_000,
        "multi_task": 1.0,  # how much the question "others or an emotion?" counts
    }

    def build(self) -> Block:
        """Four networks, each with the same say."""
        return Mean(
            [self._multi_task("recurrent"), self._multi_task("hierarchical"), self._transformer(), self._sentences()]
        )

    @property
    def _training(self) -> "Training":
        from emoscope.models.torch.training import Training

        get = self.settings
        return Training(epochs=get["network_epochs"], batch=get["network_batch"], rate=get["network_rate"])

    def _multi_task(self, network: str) -> Block:
        from emoscope.models.torch.classifier import Head, NeuralClassifier

        get, labels = self.settings, self.task.labels
        neutral = str(self.task.metadata.neutral_label)
        question = Head(((neutral,), tuple(label for label in labels if label != neutral)), get["multi_task"])
        names = ("context", "max_length", "hidden", "embedding", "vectors", "min_count", "max_features")
        chosen = {"pooling": "max", "dropout": get["network_dropout"], **{name: get[name] for name in names}}
        return NeuralClassifier(labels, network, chosen, self._training, [question])

    def _transformer(self) -> Block:
        # What `hidden` says is meant for the networks over words.
        return fine_tuned(self.task.labels, self.settings, hidden=0)

    def _sentences(self) -> Block:
        from emoscope.models.torch.classifier import NeuralClassifier

        get = self.settings
        chosen = {
            "encoder": get["sentence_encoder"] or get["encoder"],
            "reader": "none",
            "pooling": "mean",
            "context": get["context"],
            "context_reader": "gru",
            "context_hidden": get["hidden"],
            "dropout": 0.1,
            "max_length": get["max_length"],
        }
        return NeuralClassifier(self.task.labels, "contextual", chosen, self._training)
