"""NTUA-SLP at IEST: word vectors, a sentiment task and a language model, each transferred to the emotion of a word."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class NtuaSlp(Recipe):
    """Three models, averaged: word2vec of tweets below a BiLSTM with attention; the same network after it has learnt
    the sentiment of tweets; and a language model of tweets, fine-tuned with gradual unfreezing.
    """

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="ntua-slp",
        summary="word2vec of tweets and a BiLSTM with attention; the same transferred from SemEval-2017 4A; language "
        "model transfer with gradual unfreezing; averaged",
        tasks=("iest",),
        team="NTUA-SLP",
        citation=(
            "Chronopoulou, Margatina, Baziotis, Potamianos (2018). NTUA-SLP at IEST 2018: Ensemble of Neural Transfer "
            "Methods for Implicit Emotion Classification. WASSA-2018, 57-64."
        ),
        published={"iest": 0.7029},
        substitutions=(
            "word2vec of 550 million tweets, language models of 2, 3 and 5 million: both trained on the 0.2 million "
            "tweets and Reddit comments of the auxiliary data",
        ),
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "vectors": "word2vec",
        "pretraining_text": None,  # also bounds the tweets of the sentiment task; 0 leaves all of them out
        "min_count": 2,
        "max_features": 30_000,
        "max_length": 60,
        "embedding": 300,
        "hidden": 400,
        "layers": 2,
        "dropout": 0.3,
        "epochs": 6,
        "source_epochs": 3,
        "batch": 64,
        "rate": 1e-3,
        "seeds": 3,  # fine-tunings of the language model
        "lm_hidden": None,  # null: 2.5 times `hidden`
        "lm_dropout": 0.5,
        "lm_epochs": 6,
        "lm_batch": 64,
        "lm_rate": 3e-3,
        "tune_epochs": 4,
        "lm_classifier_epochs": 12,
        "lm_classifier_rate": 1e-2,
    }

    def build(self) -> Block:
        """The three models, each with the same say."""
        return Mean([self._words(), self._sentiment(), self._language_model()])

    def _network(self) -> dict[str, Any]:
        shared = ("vectors", "pretraining_text", "min_count", "max_features", "max_length", "embedding", "hidden")
        own = {name: self.settings[name] for name in (*shared, "layers", "dropout")}
        return {"context": 1, "pooling": "attention", **own}

    def _words(self) -> Block:
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        get = self.settings
        training = Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"])
        return NeuralClassifier(self.task.labels, "tweet-recurrent", self._network(), training)

    def _sentiment(self) -> Block:
        from emoscope.models.torch.training import Training
        from emoscope.models.torch.transfer import Transferred

        get = self.settings
        return Transferred(
            self.task.labels,
            "tweet-recurrent",
            self._network(),
            Training(epochs=get["epochs"], batch=get["batch"], rate=get["rate"]),
            sources=("semeval2017-4a",),
            source_training=Training(epochs=get["source_epochs"], batch=get["batch"], rate=get["rate"]),
            limit=get["pretraining_text"],
        )

    def _language_model(self) -> Block:
        from emoscope.models.torch.training import Training
        from emoscope.models.torch.transfer import Transferred

        get = self.settings
        shared = ("pretraining_text", "min_count", "max_features", "max_length", "embedding", "layers")
        own = ("lm_epochs", "lm_batch", "lm_rate", "tune_epochs")
        network = {
            "context": 1,
            "hidden": get["lm_hidden"] or round(2.5 * get["hidden"]),
            "dropout": get["lm_dropout"],
            **{name: get[name] for name in (*shared, *own)},
        }
        training = Training(
            epochs=get["lm_classifier_epochs"],
            batch=get["batch"],
            rate=get["lm_classifier_rate"],
            schedule="slanted",
            unfreeze=True,
        )
        return Transferred(self.task.labels, "ulmfit", network, training, copies=get["seeds"])
