"""Amobee at IEST: a language model's guesses of the masked word, and encoders that learnt other affect tasks first."""

from collections.abc import Sequence
from typing import ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import FineTuningSettings


class AmobeeSettings(FineTuningSettings):
    """The paper's values, and BERT's usual ones."""

    pooling: str = "mask"
    layer_decay: float = 0.9
    learning_rate: float = 3e-5
    source_epochs: int = 1
    """Passes over each of the other tasks."""
    source_batch_size: int = 64
    """Examples per training step on the other tasks."""
    pretraining_text: int | None = None
    """Most lines for the language model, and examples of each other task; 0 leaves them out."""
    lm_epochs: int = 1
    """Passes over the unlabelled text."""
    lm_batch_size: int = 64
    """Rows of unlabelled text per training step."""
    lm_learning_rate: float = 5e-5
    """Highest learning rate of the language model."""
    C: float = 1.0
    """Inverse of the L2 penalty of the linear model over the language model's guesses."""
    weights: tuple[float, ...] = (1.0, 1.0, 1.0)
    """Weights of the three models in the mean."""


class Amobee(System):
    """Three kinds of evidence, averaged: how likely a language model of tweets finds each emotion's trigger words where
    the word was masked; an encoder that learnt sentiment and emotions of other data first; and one that learnt to
    predict emoji, as DeepMoji did, before it was trained on the task.
    """

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="amobee",
        summary="a language model's probabilities of the trigger words, transfer from affect tasks and from emoji "
        "prediction with a sentence encoder, averaged",
        tasks=("iest",),
        team="Amobee",
        citation=(
            "Rozental, Fleischer, Kelrich (2018). Amobee at IEST 2018: Transfer Learning from Language Models. "
            "WASSA-2018, 43-49."
        ),
        published={"iest": 0.7145},
        substitutions=(
            "a transformer decoder trained on 5 billion tweets: the encoder, trained to guess masked words of 0.2 "
            "million tweets and Reddit comments",
            "the authors' models of SemEval-2018 task 1: the encoder, trained on SemEval-2017 4A, GoEmotions and "
            "TweetEval emotion",
            "DeepMoji and Universal Sentence Encoder as features: the encoder, trained on TweetEval emoji",
            "bert-base-uncased: all-mpnet-base-v2 in our measured runs (--set encoder=FOLDER)",
        ),
    )
    settings_class = AmobeeSettings
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

        get = self.settings
        return Transferred(
            self.task.labels,
            "transformer",
            get.pick("context", "encoder", "pooling", "max_length", "dropout", "layer_decay"),
            get.training(),
            sources=sources,
            source_training=get.training(epochs=get.source_epochs, batch_size=get.source_batch_size),
            limit=get.pretraining_text,
        )
