"""Training a language model on a stream of words in windows; the state is carried over."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.language_model import LanguageModel, State, discriminative_groups
from emoscope.models.torch.training import Schedule, StepLoss, Trainer, Training, mixed_precision

Window = tuple[Tensor, Tensor]  # the words, and the next word of each


@dataclass(frozen=True, slots=True)
class LanguageTraining(Training):
    """How to train an AWD-LSTM (Merity et al. 2018)."""

    epochs: int = 1
    batch_size: int = 64
    weight_decay: float = 1e-4
    max_grad_norm: float = 0.25
    schedule: Schedule = "slanted"
    bptt: int = 70
    """Words per window of backpropagation through time."""
    layer_factor: float = 1.0
    """Divisor of the learning rate from each layer to the one below."""
    alpha: float = 2.0
    """Activation regularisation: penalty on large states."""
    beta: float = 1.0
    """Temporal activation regularisation: penalty on changes between positions."""


@dataclass(eq=False)
class LanguageTrainer(Trainer[Window]):
    """Trains a language model in place on texts of token ids, shuffled each epoch.

    Its batches are the windows of the text, in order; its curve shows log perplexities.
    """

    model: LanguageModel
    texts: Sequence[Sequence[int]]
    training: LanguageTraining
    fit_context: FitContext
    name: str = "language model"

    def __post_init__(self) -> None:
        self.length = sum(map(len, self.texts))
        self.states: list[State] | None = None
        if self.length < 2:
            raise EmoscopeError("a language model needs text to learn from")

    def make_optimizer(self) -> torch.optim.Optimizer:
        training = self.training
        groups = discriminative_groups(self.model.stages(), training.learning_rate, training.layer_factor)
        return torch.optim.AdamW(groups, betas=(0.8, 0.99), weight_decay=training.weight_decay)

    def sizes(self) -> dict[str, int]:
        weights = sum(parameter.numel() for parameter in self.model.parameters())
        return {"texts": len(self.texts), "tokens": self.length, "weights": weights}

    @property
    def steps_per_epoch(self) -> int:
        width = self.length // _row_count(self.length, self.training.batch_size)
        return max(1, math.ceil((width - 1) / self.training.bptt))

    def batches(self, epoch: int) -> Iterator[Window]:
        order = np.random.default_rng((self.fit_context.seed, epoch))
        self.states = None
        rows = token_rows(self.texts, self.training.batch_size, order).to(self.device)
        for start in range(0, rows.shape[1] - 1, self.training.bptt):
            end = min(start + self.training.bptt, rows.shape[1] - 1)
            yield rows[:, start:end], rows[:, start + 1 : end + 1]

    def loss(self, batch: Window, progress: float) -> StepLoss:
        del progress
        words, following = batch
        with mixed_precision(self.device):
            logits, last_layer, states = self.model(words, self.states)
        self.states = [(hidden.detach(), cell.detach()) for hidden, cell in states]
        loss = functional.cross_entropy(logits.float().flatten(0, 1), following.flatten())
        penalty = self.training.alpha * last_layer.pow(2).mean()
        if last_layer.shape[1] > 1:
            penalty = penalty + self.training.beta * (last_layer[:, 1:] - last_layer[:, :-1]).pow(2).mean()
        return StepLoss(loss + penalty, loss, 1)

    def describe(self, loss: float) -> str:
        return f"{self.name}, perplexity {math.exp(min(loss, 20)):.0f}"


def token_rows(texts: Sequence[Sequence[int]], batch_size: int, order: np.random.Generator | None) -> Tensor:
    """All texts as one stream, cut into `batch_size` rows of the same length; the remainder is dropped.

    >>> token_rows([[1, 2, 3], [4, 5]], 2, None).tolist()
    [[1, 2], [3, 4]]
    """
    drawn = range(len(texts)) if order is None else order.permutation(len(texts)).tolist()
    stream = np.concatenate([np.asarray(texts[number], np.int64) for number in drawn])
    rows = _row_count(len(stream), batch_size)
    width = len(stream) // rows
    return torch.from_numpy(stream[: rows * width].reshape(rows, width).copy())


def _row_count(length: int, batch_size: int) -> int:
    return max(1, min(batch_size, length // 2))
