"""A causal language model over words: embedding, LSTM layers with dropped weights, a softmax tied to the embedding.

The AWD-LSTM of Merity, Keskar and Socher (2018), as ULMFiT uses it.
"""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from emoscope.models.text.vocabulary import Vocabulary
from emoscope.models.torch.layers import full_precision

State = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Dropouts:
    """Dropout rates by place; the values are ULMFiT's.

    >>> Dropouts().times(0.5).inputs
    0.2
    """

    words: float = 0.05  # whole rows of the embedding
    inputs: float = 0.4
    between: float = 0.3
    outputs: float = 0.4
    weights: float = 0.5  # of the recurrent weights

    def times(self, factor: float) -> "Dropouts":
        """All rates scaled; less data needs more dropout, a smaller model less."""
        return Dropouts(**{name: min(value * factor, 0.9) for name, value in asdict(self).items()})


class LockedDropout(nn.Module):
    """Dropout of the same features at every position of a row."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, states: Tensor) -> Tensor:
        if not self.training or not self.share:
            return states
        return states * functional.dropout(torch.ones_like(states[:, :1]), self.share)


class DroppedLSTM(nn.Module):
    """One LSTM layer with dropout on its recurrent weights, the same for all positions."""

    def __init__(self, input_size: int, hidden_size: int, share: float) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.share = share
        bound = hidden_size**-0.5
        self.input_weights = nn.Parameter(torch.empty(4 * hidden_size, input_size).uniform_(-bound, bound))
        self.recurrent_weights = nn.Parameter(torch.empty(4 * hidden_size, hidden_size).uniform_(-bound, bound))
        self.input_bias = nn.Parameter(torch.zeros(4 * hidden_size))
        self.recurrent_bias = nn.Parameter(torch.zeros(4 * hidden_size))

    def forward(self, states: Tensor, start: State | None = None) -> tuple[Tensor, State]:
        """The state at every position, and the final state."""
        if start is None:
            nothing = states.new_zeros(1, len(states), self.hidden_size, dtype=torch.float32)
            start = (nothing, nothing)
        recurrent = functional.dropout(self.recurrent_weights, self.share, self.training)
        weights = [self.input_weights, recurrent, self.input_bias, self.recurrent_bias]
        with full_precision(states), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous")
            # With biases, 1 layer, no dropout between layers, one direction, rows first.
            read, hidden, cell = torch.lstm(states.float(), start, weights, True, 1, 0.0, self.training, False, True)
        return read, (hidden, cell)


class LanguageEncoder(nn.Module):
    """Tokens to states. The last layer is as wide as the embedding, so that the softmax can be tied to it."""

    def __init__(self, words: int, embedding_size: int, hidden_size: int, num_layers: int, dropouts: Dropouts) -> None:
        super().__init__()
        self.width = embedding_size
        self.dropouts = dropouts
        # Wider than AWD-LSTM's 0.1: with little text, that halves the perplexity.
        self.embedding = nn.Parameter(torch.empty(words, embedding_size).normal_(0, 0.5))
        sizes = [embedding_size, *[hidden_size] * (num_layers - 1), embedding_size]
        self.layers = nn.ModuleList(
            DroppedLSTM(inputs, outputs, dropouts.weights) for inputs, outputs in pairwise(sizes)
        )
        self.inputs = LockedDropout(dropouts.inputs)
        self.between = LockedDropout(dropouts.between)

    def forward(self, tokens: Tensor, starts: Sequence[State] | None = None) -> tuple[Tensor, list[State]]:
        """The last layer's state at every position of (rows, positions) tokens, and each layer's final state."""
        states = self.inputs(self._embedded(tokens))
        ends: list[State] = []
        for number, layer in enumerate(self.layers):
            if number:
                states = self.between(states)
            states, end = layer(states, starts[number] if starts else None)
            ends.append(end)
        return states, ends

    def _embedded(self, tokens: Tensor) -> Tensor:
        table: Tensor = self.embedding
        if self.training and self.dropouts.words:
            table = table * functional.dropout(table.new_ones(len(table), 1), self.dropouts.words)
        return functional.embedding(tokens, table, padding_idx=Vocabulary.padding)

    def stages(self) -> list[list[nn.Parameter]]:
        """The layers' parameters from the last to the first, then the embedding."""
        return [*(list(layer.parameters()) for layer in reversed(self.layers)), [self.embedding]]


class LanguageModel(nn.Module):
    """The probability of each next word."""

    def __init__(self, encoder: LanguageEncoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.outputs = LockedDropout(encoder.dropouts.outputs)
        self.bias = nn.Parameter(torch.zeros(len(encoder.embedding)))

    def forward(self, tokens: Tensor, starts: Sequence[State] | None = None) -> tuple[Tensor, Tensor, list[State]]:
        """The logits of every next word at each position; the encoder's states; each layer's final state."""
        states, ends = self.encoder(tokens, starts)
        return functional.linear(self.outputs(states), self.encoder.embedding, self.bias), states, ends

    def stages(self) -> list[list[nn.Parameter]]:
        return [[self.bias], *self.encoder.stages()]


def discriminative_groups(
    stages: Sequence[Sequence[nn.Parameter]], learning_rate: float, factor: float
) -> list[dict[str, Any]]:
    """Parameter groups in which each stage learns `factor` times slower than the one above it (ULMFiT: 2.6).

    >>> [group["lr"] for group in discriminative_groups([[], [], []], 4.0, 2.0)]
    [4.0, 2.0, 1.0]
    """
    return [{"params": list(stage), "lr": learning_rate / factor**number} for number, stage in enumerate(stages)]
