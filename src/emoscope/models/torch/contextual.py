"""Networks over the word vectors of a frozen pretrained encoder, which are computed once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.text.contextual_rows import GROUP, TurnRows, WordAndVectorRows
from emoscope.models.torch.convolutional import Convolutions
from emoscope.models.torch.frozen import EncoderFeatures, FrozenEncoder, frozen_encoder, load_frozen
from emoscope.models.torch.layers import Pooling, Recurrent, full_precision, pooled_recurrent
from emoscope.models.torch.network import Batch, Network
from emoscope.models.torch.recurrent import HierarchicalNetwork
from emoscope.models.torch.training import device_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualSettings:
    """The settings of a `Contextual` network."""

    encoder: str = "bert-base-uncased"
    num_layers: int = 1
    """How many of the encoder's last layers are averaged."""
    reader: str = "lstm"
    """`lstm` or `gru` in both directions (`hidden_size` units each, then `pooling`), `cnn` (`num_filters` of each of
    `kernel_sizes`, then their maximum), or `none` (the words are pooled as they are)."""
    hidden_size: int = 256
    pooling: str = "max"
    num_filters: int = 100
    kernel_sizes: Sequence[int] = (3, 4, 5)
    sentence: bool = False
    """Whether the encoder's vector of the whole turn is joined to the reader's."""
    context: int = 1
    future: int = 0
    context_reader: str = "none"
    """`none`, `lstm` or `gru` over the vectors of `context` turns, with the one to label, and `future` after it."""
    context_hidden_size: int = 128
    context_bidirectional: bool = False
    residual: bool = False
    """Whether the context reader's input is added to its output."""
    dense_size: int = 0
    """Units of a layer before the output; 0 for none."""
    dropout: float = 0.5
    output_dropout: float = 0.1
    max_length: int = 128

    def __post_init__(self) -> None:
        if self.reader not in ("lstm", "gru", "cnn", "none"):
            raise EmoscopeError(f"reader: expected lstm, gru, cnn or none, found {self.reader!r}")
        if self.context_reader not in ("none", "lstm", "gru"):
            raise EmoscopeError(f"context_reader: expected none, lstm or gru, found {self.context_reader!r}")
        if self.context_reader == "none" and (self.context > 1 or self.future):
            raise EmoscopeError("several turns of context need a context_reader")


class Contextual(TurnRows, Network):
    """A reader of the encoder's word vectors, optionally a reader of turns above it, and a dense layer."""

    graph = "words"

    def __init__(self, outputs: int, **options: Any) -> None:
        super().__init__(outputs)
        settings = self.settings = ContextualSettings(**options)
        self.context, self.future, self.max_length = settings.context, settings.future, settings.max_length
        self.dropout = nn.Dropout(settings.dropout)
        self.output_dropout = nn.Dropout(settings.output_dropout)
        self.device = device_of("auto")
        self.frozen: FrozenEncoder

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        del examples
        self.device = device_of(fit_context.device)
        self._build(frozen_encoder(self.settings.encoder))

    def _build(self, frozen: FrozenEncoder) -> None:
        settings, longest = self.settings, frozen.encoder.longest
        if settings.max_length > longest:
            raise EmoscopeError(f"max_length: {settings.encoder} reads at most {longest}, not {settings.max_length}")
        self.frozen = frozen
        self.frozen_features = EncoderFeatures(frozen, self.device, settings.num_layers)
        width = self._build_reader(frozen.width) + (frozen.width if settings.sentence else 0)
        if settings.context_reader != "none":
            size, both = settings.context_hidden_size, settings.context_bidirectional
            self.context_reader = Recurrent(width, size, cell=settings.context_reader, bidirectional=both)
            if settings.residual:
                self.shortcut = nn.Linear(width, self.context_reader.width, bias=False)
            width = self.context_reader.width
        between = [nn.Linear(width, settings.dense_size), nn.ReLU()] if settings.dense_size else []
        last = nn.Linear(settings.dense_size or width, self.outputs)
        self.head = nn.Sequential(*between, nn.Dropout(settings.output_dropout), last)

    def _build_reader(self, input_size: int) -> int:
        settings = self.settings
        if settings.reader == "cnn":
            self.convolutions = Convolutions(input_size, settings.num_filters, settings.kernel_sizes)
            return self.convolutions.width
        if settings.reader == "none":
            self.pool = Pooling(settings.pooling, input_size)
        else:
            self.reader = Recurrent(input_size, settings.hidden_size, cell=settings.reader)
            self.pool = pooled_recurrent(self.reader, settings.pooling)
        return self.pool.width

    def forward(self, batch: Batch) -> Tensor:
        turns = self._turns(batch)[batch["order"]]
        if self.settings.context_reader == "none":
            return self._logits(turns[:, 0])
        read: Tensor
        with full_precision(turns):
            read = self.context_reader(self.output_dropout(turns.float()), batch["counts"])
        if self.settings.residual:
            read = read + self.shortcut(turns)
        return self._logits(read[torch.arange(len(read), device=read.device), batch["labelled"]])

    def _logits(self, vectors: Tensor) -> Tensor:
        with full_precision(vectors):
            return cast(Tensor, self.head(vectors.float()))

    def _turns(self, batch: Batch) -> Tensor:
        groups = math.ceil(len(batch["sentences"]) / GROUP)
        turns = torch.cat([self._read(batch[f"words{n}"].float(), batch[f"lengths{n}"]) for n in range(groups)])
        if self.settings.sentence:
            turns = torch.cat([turns.float(), self.dropout(batch["sentences"].float())], dim=-1)
        return turns

    def _read(self, words: Tensor, lengths: Tensor) -> Tensor:
        words = self.dropout(words)
        if self.settings.reader == "cnn":
            return cast(Tensor, self.convolutions(words, lengths))
        if self.settings.reader == "none":
            return cast(Tensor, self.pool(words, lengths))
        with full_precision(words):
            return cast(Tensor, self.pool(self.reader(words, lengths), lengths))

    def save_assets(self, folder: Path) -> None:
        self.frozen.save(folder)

    def load_assets(self, folder: Path) -> None:
        self._build(load_frozen(folder))


@dataclass(eq=False, repr=False, kw_only=True)
class ContextualHierarchical(WordAndVectorRows, HierarchicalNetwork):
    """A hierarchical network that reads each word's own vector joined with a frozen encoder's.

    The last `encoder_layers` of the encoder are averaged.
    """

    encoder: str = "bert-base-uncased"
    encoder_layers: int = 1

    @property
    def input_size(self) -> int:
        return self.embedding_size + self.frozen.width

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        self._use(frozen_encoder(self.encoder), fit_context.device)
        super().prepare(examples, fit_context)

    def read_rows(self, batch: Batch) -> Tensor:
        words = torch.cat([self.embed(batch["words"]), self.drop(batch["contextual"].float())], dim=-1)
        return cast(Tensor, self.pool(self.reader(words, batch["lengths"]), batch["lengths"]))

    def forward(self, batch: Batch) -> Tensor:
        with full_precision(batch["contextual"]):
            return super().forward(batch)

    def save_assets(self, folder: Path) -> None:
        super().save_assets(folder)
        self.frozen.save(folder)

    def load_assets(self, folder: Path) -> None:
        self._use(load_frozen(folder), "auto")
        super().load_assets(folder)

    def _use(self, frozen: FrozenEncoder, device: str) -> None:
        self.frozen = frozen
        self.frozen_features = EncoderFeatures(frozen, device_of(device), self.encoder_layers)
