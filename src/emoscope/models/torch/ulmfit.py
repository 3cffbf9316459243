"""ULMFiT (Howard and Ruder 2018): a language model, pretrained and tuned on the task's text, as a classifier."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from emoscope.models.torch.language_training import LanguageTrainer, LanguageTraining
from emoscope.models.torch.layers import Pooling
from emoscope.models.torch.network import Batch
from emoscope.models.torch.word_network import WordNetwork
from emoscope.tasks.datasets.auxiliary import unlabelled_texts

LAYER_FACTOR = 2.6  # divisor of the learning rate from each layer to the one below


class PatientBatchNorm(nn.BatchNorm1d):
    """Batch normalisation that uses its running averages for a batch of one, which has no variance."""

    def forward(self, rows: Tensor) -> Tensor:
        if len(rows) > 1:
            return super().forward(rows)
        return functional.batch_norm(rows, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)


@dataclass(eq=False, repr=False, kw_only=True)
class UlmFit(LanguageRows, WordNetwork):
    """A language model's encoder; its last, maximum and mean states; two dense layers.

    `embedding_size`, `hidden_size` and `num_layers` are those of the language model (AWD-LSTM: 400, 1150, 3). It is
    trained on `pretraining_text` lines of tweets and comments (0: none; None: all) for `lm_epochs`, then on the
    examples' turns for `tune_epochs`. `dropout` scales all of AWD-LSTM's dropouts, `backward` reads from right to left.
    """

    embedding_size: int = 400
    hidden_size: int = 1150
    num_layers: int = 3
    dense_size: int = 50
    dropout: float = 1.0
    backward: bool = False
    pretraining_text: int | None = None
    lm_epochs: int = 10
    lm_batch_size: int = 64
    lm_learning_rate: float = 3e-3
    tune_epochs: int = 5
    max_features: int = 30_000

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        """Learn vocabulary and language model, first from the resources' text, then from the examples'."""
        turns_of = [self.turn_texts(example) for example in examples]
        general = unlabelled_texts(fit_context, self.pretraining_text) if self.pretraining_text != 0 else []
        tokens = each_once(self.cut, chain(general, *turns_of))
        self.learn_vocabulary([tokens[text] for text in chain(general, *turns_of)])
        self.build()
        numbers = {text: self.vocabulary.encode(cut) for text, cut in tokens.items()}
        model = LanguageModel(self.encoder)
        plan = LanguageTraining(self.lm_epochs, self.lm_batch_size, self.lm_learning_rate)
        if general:
            rows = [self.directed([*numbers[text], Vocabulary.end_of_turn]) for text in general]
            part = fit_context.part("pretraining")
            LanguageTrainer(model, rows, plan, part, "language model, general text").run()
        own = dict.fromkeys(map(tuple, turns_of))  # otherwise a dialogue's turns would be learnt once per example
        rows = [self.directed(self.row([numbers[text] for text in turns])[1:]) for turns in own]
        plan = replace(plan, epochs=self.tune_epochs, layer_factor=LAYER_FACTOR)
        part = fit_context.part("tuning")
        LanguageTrainer(model, rows, plan, part, "language model, the task's text").run()

    def build(self) -> None:
        self.head = nn.Linear(self.make_layers(), self.outputs)

    def make_layers(self) -> int:
        if self.num_layers < 1:
            raise EmoscopeError("num_layers must be at least 1")
        dropouts = Dropouts().times(self.dropout)
        self.encoder = LanguageEncoder(
            len(self.vocabulary), self.embedding_size, self.hidden_size, self.num_layers, dropouts
        )
        self.pool = Pooling("last+max+mean", self.embedding_size)
        self.between = nn.Sequential(
            PatientBatchNorm(self.pool.width),
            nn.Dropout(dropouts.outputs),
            nn.Linear(self.pool.width, self.dense_size),
            nn.ReLU(),
            PatientBatchNorm(self.dense_size),
            nn.Dropout(0.1),
        )
        return self.dense_size

    def features(self, batch: Batch) -> Tensor:
        states, _ = self.encoder(batch["words"])
        return cast(Tensor, self.between(self.pool(states, batch["lengths"])))

    def forward(self, batch: Batch) -> Tensor:
        return cast(Tensor, self.head(self.features(batch)))

    def stages(self) -> list[list[nn.Parameter]]:
        """The dense layers, then the language model's from the last to the first, then the embedding."""
        return [[*self.head.parameters(), *self.between.parameters()], *self.encoder.stages()]

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        return discriminative_groups(self.stages(), learning_rate, LAYER_FACTOR)
