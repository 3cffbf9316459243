"""Amobee at IEST: a language model's guesses of the masked word, and encoders that learnt other affect tasks first."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class Amobee(Recipe):
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
    defaults: ClassVar[Mapping[str, Any]] = {
        "encoder": "bert-base-uncased",
        "pooling": "mask",
        "max_length": 128,
        "dropout": 0.1,
        "layer_decay": 0.9,
        "epochs": 3,
        "batch": 32,
        "rate": 3e-5,
        "source_epochs": 1,
        "source_batch": 64,
        "pretraining_text": None,  # lines for the language model and examples of each other task; 0 leaves them out
        "lm_epochs": 1,
        "lm_batch": 64,
        "lm_rate": 5e-5,
        "strength": 1.0,  # of the linear model over the guesses: the inverse of its penalty
        "weights": [1.0, 1.0, 1.0],  # of the three in the mean
    }

    def build(self) -> Block:
        """The three, weighted."""
        affect = ("semeval2017-4a", "goemotions-ekman", "tweeteval-emotion")
        parts = [self._guesses(), self._transferred(affect), self._transferred(("tweeteval-emoji",))]
        return Mean(parts, self.settings["weights"])

    def _guesses(self) -> Block:
        from emoscope.models.linear.classifier import LinearClassifier
        from emoscope.models.torch.trigger_lm import TriggerWords

        names = ("encoder", "max_length", "pretraining_text", "lm_epochs", "lm_batch", "lm_rate")
        words = TriggerWords(**{name: self.settings[name] for name in names})
        return LinearClassifier(self.task.labels, [words], strength=self.settings["strength"], scale=True)

    def _transferred(self, sources: Sequence[str]) -> Block:
        from emoscope.models.torch.training import Training
        from emoscope.models.torch.transfer import Transferred

        get = self.settings
        names = ("encoder", "pooling", "max_length", "dropout", "layer_decay")
        return Transferred(
            self.task.labels,
            "transformer",
            {"context": 1, **{name: get[name] for name in names}},
            Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"]),
            sources=sources,
            source_training=Training(epochs=get["source_epochs"], batch=get["source_batch"], rate=get["rate"]),
            limit=get["pretraining_text"],
        )
