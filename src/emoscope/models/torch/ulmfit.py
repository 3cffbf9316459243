"""ULMFiT (Howard and Ruder 2018): a language model learns much text, then the task's own, then becomes a classifier."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, cast

from torch import Tensor, nn
from torch.nn import functional

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.text.vocabulary import Vocabulary
from emoscope.models.text.word_rows import LanguageRows, each_once
from emoscope.models.torch.language_model import Dropouts, LanguageEncoder, LanguageModel, discriminative_groups
from emoscope.models.torch.language_training import LanguageTraining, train_language_model
from emoscope.models.torch.layers import Pooling
from emoscope.models.torch.network import Batch
from emoscope.models.torch.word_network import WordNetwork
from emoscope.tasks.datasets.auxiliary import unlabelled_texts

# How much slower each layer learns than the one above it; ULMFiT's value.
FACTOR = 2.6


class PatientBatchNorm(nn.BatchNorm1d):
    """Batch normalisation that takes a batch of one, from which no spread can be told, by what it knows already."""

    def forward(self, rows: Tensor) -> Tensor:
        """Shape (rows, width), as it came."""
        if len(rows) > 1:
            return super().forward(rows)
        return functional.batch_norm(rows, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)


class UlmFit(LanguageRows, WordNetwork):
    """A language model's encoder; its last, largest and mean states; two dense layers.

    `embedding`, `hidden` and `layers` are the sizes of the language model (AWD-LSTM: 400, 1150, 3). It learns
    `pretraining_text` lines of tweets and comments (0: none; null: all there are) for `lm_epochs`, then the examples'
    own turns for `tune_epochs`. `dropout` scales all of AWD-LSTM's dropouts, `backward` reads from right to left.
    """

    def __init__(
        self,
        outputs: int,
        *,
        embedding: int = 400,
        hidden: int = 1150,
        layers: int = 3,
        dense: int = 50,
        dropout: float = 1.0,
        backward: bool = False,
        pretraining_text: int | None = None,
        lm_epochs: int = 10,
        lm_batch: int = 64,
        lm_rate: float = 3e-3,
        tune_epochs: int = 5,
        max_features: int = 30_000,
        **shared: Any,
    ) -> None:
        dropouts = Dropouts().times(dropout)
        super().__init__(
            outputs,
            embedding=embedding,
            max_features=max_features,
            vectors="random",
            dropout=dropouts.outputs,
            **shared,
        )
        self.dropouts = dropouts
        self.hidden = hidden
        self.depth = layers
        self.dense = dense
        self.backward = backward
        self.pretraining_text = pretraining_text
        self.pretraining = LanguageTraining(epochs=lm_epochs, batch=lm_batch, rate=lm_rate)
        self.tuning = LanguageTraining(epochs=tune_epochs, batch=lm_batch, rate=lm_rate, factor=FACTOR)

    # Learning from text alone

    def prepare(self, examples: Sequence[Example], fitting: FitContext) -> None:
        """Learn the vocabulary and the language model: first from the resources' text, then from the examples'."""
        said = [self.turn_texts(example) for example in examples]
        general = unlabelled_texts(fitting, self.pretraining_text) if self.pretraining_text != 0 else []
        tokens = each_once(self.cut, chain(general, *said))
        self.learn_vocabulary([tokens[text] for text in chain(general, *said)])
        self.build()
        numbers = {text: self.vocabulary.encode(cut) for text, cut in tokens.items()}
        model = LanguageModel(self.encoder)
        if general:
            rows = [self.directed([*numbers[text], Vocabulary.end_of_turn]) for text in general]
            plan, part = self.pretraining, fitting.part("pretraining")
            train_language_model(model, rows, plan, part, name="language model, general text")
        own = dict.fromkeys(map(tuple, said))  # the turns of one dialogue would else be learnt once per example
        rows = [self.directed(self.row([numbers[text] for text in turns])[1:]) for turns in own]
        train_language_model(model, rows, self.tuning, fitting.part("tuning"), name="language model, the task's text")

    # The classifier

    def build(self) -> None:
        """Make all layers; the embedding is the language model's."""
        self.head = nn.Linear(self.make_layers(), self.outputs)

    def make_layers(self) -> int:
        """The encoder, its pooling and the dense layer."""
        if self.depth < 1:
            raise EmoscopeError("layers must be at least 1")
        self.encoder = LanguageEncoder(len(self.vocabulary), self.size, self.hidden, self.depth, self.dropouts)
        self.pool = Pooling("last+max+mean", self.size)
        self.between = nn.Sequential(
            PatientBatchNorm(self.pool.width),
            nn.Dropout(self.dropouts.outputs),
            nn.Linear(self.pool.width, self.dense),
            nn.ReLU(),
            PatientBatchNorm(self.dense),
            nn.Dropout(0.1),
        )
        return self.dense

    def features(self, batch: Batch) -> Tensor:
        """The dense layer's answer to the pooled states."""
        states, _ = self.encoder(batch["words"])
        return cast(Tensor, self.between(self.pool(states, batch["lengths"])))

    def forward(self, batch: Batch) -> Tensor:
        """A score per example and output."""
        return cast(Tensor, self.head(self.features(batch)))

    def stages(self) -> list[list[nn.Parameter]]:
        """The dense layers, then the language model's from the last to the first, then the embedding."""
        return [[*self.head.parameters(), *self.between.parameters()], *self.encoder.stages()]

    def parameter_groups(self, rate: float) -> list[dict[str, Any]]:
        """Each stage learns 2.6 times slower than the one above it."""
        return discriminative_groups(self.stages(), rate, FACTOR)
