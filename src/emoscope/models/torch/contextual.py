"""Networks over the word vectors of a frozen pretrained encoder, which are computed once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.text.contextual_rows import GROUP, TurnRows, WordAndVectorRows
from emoscope.models.torch.convolutional import Convolutions
from emoscope.models.torch.frozen import FrozenEncoder, FrozenFeatures, frozen_encoder, load_frozen
from emoscope.models.torch.layers import Pooling, Recurrent, full_precision, pooled_recurrent
from emoscope.models.torch.network import Batch, Item, Network
from emoscope.models.torch.recurrent import HierarchicalNetwork
from emoscope.models.torch.training import device_of

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter
    from emoscope.models.onnx.exported import Exported


class Contextual(TurnRows, Network):
    """A reader of the encoder's word vectors, perhaps a reader of turns above it, and a dense layer.

    reader: `lstm` or `gru` in both directions (`hidden_size` units each, then `pooling`), `cnn` (`num_filters` of each
    of `kernel_sizes`, then their maximum), or `none` (the words are pooled as they are). `sentence` puts the encoder's
    vector of the whole turn beside the reader's. The last `num_layers` of the encoder are averaged.

    context_reader: `none`, `lstm` or `gru` over the vectors of `context` turns, the labelled one included, and `future`
    turns after it; in both directions with `context_bidirectional`; with `residual` its input is added to its output.
    `dense_size` is the width of the last layer before the output, 0 for none.
    """

    def __init__(
        self,
        outputs: int,
        *,
        encoder: str = "bert-base-uncased",
        num_layers: int = 1,
        reader: str = "lstm",
        hidden_size: int = 256,
        pooling: str = "max",
        num_filters: int = 100,
        kernel_sizes: Sequence[int] = (3, 4, 5),
        sentence: bool = False,
        context: int = 1,
        future: int = 0,
        context_reader: str = "none",
        context_hidden_size: int = 128,
        context_bidirectional: bool = False,
        residual: bool = False,
        dense_size: int = 0,
        dropout: float = 0.5,
        output_dropout: float = 0.1,
        max_length: int = 128,
    ) -> None:
        super().__init__(outputs)
        if reader not in ("lstm", "gru", "cnn", "none"):
            raise EmoscopeError(f"reader: expected lstm, gru, cnn or none, found {reader!r}")
        if context_reader not in ("none", "lstm", "gru"):
            raise EmoscopeError(f"context_reader: expected none, lstm or gru, found {context_reader!r}")
        if context_reader == "none" and (context > 1 or future):
            raise EmoscopeError("several turns of context need a context_reader")
        self.name = encoder
        self.num_layers = num_layers
        self.reader_kind, self.hidden_size, self.pooling = reader, hidden_size, pooling
        self.num_filters, self.kernel_sizes, self.sentence = num_filters, tuple(kernel_sizes), sentence
        self.context, self.future = context, future
        self.context_kind, self.context_hidden_size = context_reader, context_hidden_size
        self.context_bidirectional, self.residual = context_bidirectional, residual
        self.dense_size = dense_size
        self.dropout = nn.Dropout(dropout)
        self.output_dropout = nn.Dropout(output_dropout)
        self.max_length = max_length
        self.device = device_of("auto")
        self.frozen: FrozenEncoder

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        del examples
        self.device = device_of(fit_context.device)
        self._build(frozen_encoder(self.name))

    def _build(self, frozen: FrozenEncoder) -> None:
        if self.max_length > frozen.encoder.longest:
            raise EmoscopeError(
                f"max_length: {self.name} reads at most {frozen.encoder.longest}, not {self.max_length}"
            )
        self.frozen = frozen
        self.frozen_features: FrozenFeatures = frozen.features(self.device, self.num_layers)
        width = self._build_reader(frozen.width) + (frozen.width if self.sentence else 0)
        if self.context_kind != "none":
            self.context_reader = Recurrent(
                width, self.context_hidden_size, cell=self.context_kind, bidirectional=self.context_bidirectional
            )
            if self.residual:
                self.shortcut = nn.Linear(width, self.context_reader.width, bias=False)
            width = self.context_reader.width
        between = [nn.Linear(width, self.dense_size), nn.ReLU()] if self.dense_size else []
        self.head = nn.Sequential(
            *between, nn.Dropout(self.output_dropout.p), nn.Linear(self.dense_size or width, self.outputs)
        )

    def _build_reader(self, input_size: int) -> int:
        if self.reader_kind == "cnn":
            self.convolutions = Convolutions(input_size, self.num_filters, self.kernel_sizes)
            return self.convolutions.width
        if self.reader_kind == "none":
            self.pool = Pooling(self.pooling, input_size)
        else:
            self.reader = Recurrent(input_size, self.hidden_size, cell=self.reader_kind)
            self.pool = pooled_recurrent(self.reader, self.pooling)
        return self.pool.width

    def collate(self, items: Sequence[Item]) -> Batch:
        return {name: torch.from_numpy(table) for name, table in self.arrays(items).items()}

    def forward(self, batch: Batch) -> Tensor:
        turns = self._turns(batch)[batch["order"]]
        if self.context_kind == "none":
            return self._logits(turns[:, 0])
        read: Tensor
        with full_precision(turns):
            read = self.context_reader(self.output_dropout(turns.float()), batch["counts"])
        if self.residual:
            read = read + self.shortcut(turns)
        return self._logits(read[torch.arange(len(read), device=read.device), batch["labelled"]])

    def _logits(self, vectors: Tensor) -> Tensor:
        with full_precision(vectors):
            return cast(Tensor, self.head(vectors.float()))

    def _turns(self, batch: Batch) -> Tensor:
        groups = math.ceil(len(batch["sentences"]) / GROUP)
        turns = torch.cat([self._read(batch[f"words{n}"].float(), batch[f"lengths{n}"]) for n in range(groups)])
        if self.sentence:
            turns = torch.cat([turns.float(), self.dropout(batch["sentences"].float())], dim=-1)
        return turns

    def _read(self, words: Tensor, lengths: Tensor) -> Tensor:
        words = self.dropout(words)
        if self.reader_kind == "cnn":
            return cast(Tensor, self.convolutions(words, lengths))
        if self.reader_kind == "none":
            return cast(Tensor, self.pool(words, lengths))
        with full_precision(words):
            return cast(Tensor, self.pool(self.reader(words, lengths), lengths))

    def export(self, exporter: "Exporter", labels: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> "Exported":
        return exporter.words(self, labels, questions, self.frozen_features)

    def save_assets(self, folder: Path) -> None:
        self.frozen.save(folder)

    def load_assets(self, folder: Path) -> None:
        self._build(load_frozen(folder))


@dataclass(eq=False, repr=False, kw_only=True)
class ContextualHierarchical(WordAndVectorRows, HierarchicalNetwork):
    """A hierarchical network in which each word is its own vector and, beside it, a frozen encoder's.

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

    def export(self, exporter: "Exporter", labels: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> "Exported":
        return exporter.words(self, labels, questions, self.frozen_features)

    def save_assets(self, folder: Path) -> None:
        super().save_assets(folder)
        self.frozen.save(folder)

    def load_assets(self, folder: Path) -> None:
        self._use(load_frozen(folder), "auto")
        super().load_assets(folder)

    def _use(self, frozen: FrozenEncoder, device: str) -> None:
        self.frozen = frozen
        self.frozen_features: FrozenFeatures = frozen.features(device_of(device), self.encoder_layers)
