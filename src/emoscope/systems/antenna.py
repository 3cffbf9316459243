"""Antenna at EmotionX: BERT's word vectors through a CNN, beside its sentence vectors, read over the whole dialogue."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.torch.fine_tuning import BERT_SUBSTITUTE
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class Antenna(Recipe):
    """CNN over frozen word vectors, residual bidirectional GRU over the utterances before and after; focal loss."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="antenna",
        summary="frozen BERT's words through a CNN beside its sentences, residual BiGRU over the dialogue, focal loss",
        tasks=("emotionx-friends", "emotionx-push"),
        team="Antenna",
        citation=(
            "Shmueli, Ku (2019). SocialNLP EmotionX 2019 Challenge Overview: "
            "Predicting Emotions in Spoken Dialogues and Chats. arXiv:1909.07734."
        ),
        substitutions=(BERT_SUBSTITUTE,),
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "encoder": "bert-base-uncased",
        "layers": 1,
        "filters": 100,
        "hidden": 128,
        "dense": 128,
        "context": 24,  # no dialogue is longer
        "future": 24,
        "focus": 2.0,
        "epochs": 6,
        "batch": 32,
        "rate": 1e-3,
        "dropout": 0.3,
        "max_length": 128,
    }

    def build(self) -> Block:
        """One network over the features of a frozen encoder."""
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get = self.settings
        names = ("encoder", "layers", "filters", "dense", "context", "future", "dropout", "max_length")
        network = {
            "reader": "cnn",
            "sentence": True,
            "context_reader": "gru",
            "context_bidirectional": True,
            "residual": True,
            "context_hidden": get["hidden"],
            **{name: get[name] for name in names},
        }
        training = Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"], focus=get["focus"])
        return NeuralClassifier(self.task.labels, "contextual", network, training)
