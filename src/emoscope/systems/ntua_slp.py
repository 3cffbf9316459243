"""NTUA-SLP at IEST: transfer learning from word vectors, a sentiment task and a language model."""

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import LanguageModelSettings, WordNetworkSettings


class NtuaSlpSettings(WordNetworkSettings, LanguageModelSettings):
    """The paper's values, or common ones if it gives none."""

    vectors: str = "word2vec"
    pretraining_text: int | None = None
    """Maximum number of texts for the vectors, the language model and the sentiment task; 0 for none."""
    max_features: int = 30_000
    embedding_size: int = 300
    hidden_size: int = 400
    num_layers: int = 2
    """Recurrent layers."""
    dropout: float = 0.3
    epochs: int = 6
    source_epochs: int = 3
    """Passes over the sentiment task."""
    seeds: int = 3
    """Fine-tuning runs of the language model."""
    lm_hidden_size: int | None = None
    """Units of the language model's layers; by default 2.5 times `hidden_size`."""
    lm_dropout: float = 0.5
    """Factor on all of AWD-LSTM's dropout rates."""
    lm_classifier_epochs: int = 12
    """Passes over the training data when the language model is fine-tuned."""
    lm_classifier_learning_rate: float = 1e-2
    """Peak learning rate when the language model is fine-tuned."""


class NtuaSlp(System):
    """The mean of three models: a BiLSTM with attention over word2vec of tweets; the same network first trained on the
    sentiment of tweets; and a language model of tweets, fine-tuned with gradual unfreezing.
    """

    metadata = PUBLISHED["ntua-slp"]
    settings: NtuaSlpSettings

    def build(self) -> Block:
        from emoscope.models.torch.transfer import Transferred

        settings, labels = self.settings, self.task.labels
        shared = settings.pick("pretraining_text", "num_layers")
        network = settings.words(context=1, pooling="attention", hidden_size=settings.hidden_size, **shared)
        words = settings.classifier(labels, "tweet-recurrent", network)
        sentiment = Transferred(
            labels,
            "tweet-recurrent",
            network,
            settings.training(),
            sources=("semeval2017-4a",),
            source_training=settings.training(epochs=settings.source_epochs),
            limit=settings.pretraining_text,
        )
        return Mean([words, sentiment, self._language_model()])

    def _language_model(self) -> Block:
        from emoscope.models.torch.transfer import Transferred

        settings = self.settings
        shared = ("pretraining_text", "min_count", "max_features", "max_length", "embedding_size", "num_layers")
        own = ("lm_epochs", "lm_batch_size", "lm_learning_rate", "tune_epochs")
        network = {
            "context": 1,
            "hidden_size": settings.lm_hidden_size or round(2.5 * settings.hidden_size),
            "dropout": settings.lm_dropout,
            **settings.pick(*shared, *own),
        }
        training = settings.training(
            epochs=settings.lm_classifier_epochs,
            learning_rate=settings.lm_classifier_learning_rate,
            schedule="slanted",
            gradual_unfreezing=True,
        )
        return Transferred(self.task.labels, "ulmfit", network, training, copies=settings.seeds)
