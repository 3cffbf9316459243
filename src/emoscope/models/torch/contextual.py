"""Networks over the word vectors of a frozen pretrained encoder, which are computed once."""

import math
from collections.abc import Mapping, Sequence
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
from emoscope.models.torch.layers import Pooling, Recurrent, pooled_recurrent
from emoscope.models.torch.network import Batch, Item, Network
from emoscope.models.torch.precision import full_precision
from emoscope.models.torch.recurrent import HierarchicalNetwork
from emoscope.models.torch.training import device_of

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter
    from emoscope.models.onnx.exported import Exported


class Contextual(TurnRows, Network):
    """A reader of the encoder's word vectors, perhaps a reader of turns above it, and a dense layer.

    reader: `lstm` or `gru` in both directions (`hidden` units each, then `pooling`), `cnn` (`filters` of each of
    `widths`, then their maximum), or `none` (the words are pooled as they are). `sentence` puts the encoder's vector of
    the whole turn beside the reader's. `layers` of the encoder are averaged, the last ones.

    context_reader: `none`, `lstm` or `gru` over the vectors of `context` turns before and with the one to be labelled
    and `future` turns after it; in both directions with `context_bidirectional`; with `residual` its input is added to
    what it gives. `dense` is the width of the last layer before the output, 0 for none.
    """

    def __init__(
        self,
        outputs: int,
        *,
        encoder: str = "bert-base-uncased",
        layers: int = 1,
        reader: str = "lstm",
        hidden: int = 256,
        pooling: str = "max",
        filters: int = 100,
        widths: Sequence[int] = (3, 4, 5),
        sentence: bool = False,
        context: int = 1,
        future: int = 0,
        context_reader: str = "none",
        context_hidden: int = 128,
        context_bidirectional: bool = False,
        residual: bool = False,
        dense: int = 0,
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
        self.depth = layers
        self.reader_kind, self.hidden, self.pooling = reader, hidden, pooling
        self.filters, self.widths, self.sentence = filters, tuple(widths), sentence
        self.context, self.future = context, future
        self.context_kind, self.context_hidden = context_reader, context_hidden
        self.context_bidirectional, self.residual = context_bidirectional, residual
        self.dense = dense
        self.dropout = nn.Dropout(dropout)
        self.output_dropout = nn.Dropout(output_dropout)
        self.max_length = max_length
        self.device = device_of("auto")
        self.frozen: FrozenEncoder

    def prepare(self, examples: Sequence[Example], fitting: FitContext) -> None:
        """Load the encoder and make the layers."""
        del examples
        self.device = device_of(fitting.device)
        self._build(frozen_encoder(self.name))

    def _build(self, frozen: FrozenEncoder) -> None:
        if self.max_length > frozen.encoder.longest:
            raise EmoscopeError(
                f"max_length: {self.name} reads at most {frozen.encoder.longest}, not {self.max_length}"
            )
        self.frozen = frozen
        self.frozen_features: FrozenFeatures = frozen.features(self.device, self.depth)
        width = self._build_reader(frozen.width) + (frozen.width if self.sentence else 0)
        if self.context_kind != "none":
            self.context_reader = Recurrent(
                width, self.context_hidden, cell=self.context_kind, bidirectional=self.context_bidirectional
            )
            if self.residual:
                self.shortcut = nn.Linear(width, self.context_reader.width, bias=False)
            width = self.context_reader.width
        between = [nn.Linear(width, self.dense), nn.ReLU()] if self.dense else []
        self.head = nn.Sequential(
            *between, nn.Dropout(self.output_dropout.p), nn.Linear(self.dense or width, self.outputs)
        )

    def _build_reader(self, inputs: int) -> int:
        if self.reader_kind == "cnn":
            self.convolutions = Convolutions(inputs, self.filters, self.widths)
            return self.convolutions.width
        if self.reader_kind == "none":
            self.pool = Pooling(self.pooling, inputs)
        else:
            self.reader = Recurrent(inputs, self.hidden, cell=self.reader_kind)
            self.pool = pooled_recurrent(self.reader, self.pooling)
        return self.pool.width

    def collate(self, items: Sequence[Item]) -> Batch:
        """The turns of several examples as tensors."""
        return {name: torch.from_numpy(table) for name, table in self.arrays(items).items()}

    def forward(self, batch: Batch) -> Tensor:
        """A score per example and output."""
        turns = self._turns(batch)[batch["order"]]
        if self.context_kind == "none":
            return self._scores(turns[:, 0])
        read: Tensor
        with full_precision(turns):
            read = self.context_reader(self.output_dropout(turns.float()), batch["counts"])
        if self.residual:
            read = read + self.shortcut(turns)
        return self._scores(read[torch.arange(len(read), device=read.device), batch["labelled"]])

    def _scores(self, vectors: Tensor) -> Tensor:
        with full_precision(vectors):
            return cast(Tensor, self.head(vectors.float()))

    def _turns(self, batch: Batch) -> Tensor:
        groups = math.ceil(len(batch["sentences"]) / GROUP)
        made = torch.cat([self._read(batch[f"words{n}"].float(), batch[f"lengths{n}"]) for n in range(groups)])
        if self.sentence:
            made = torch.cat([made.float(), self.dropout(batch["sentences"].float())], dim=-1)
        return made

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
        """Write the encoder: it is not among the trained weights."""
        self.frozen.save(folder)

    def load_assets(self, folder: Path) -> None:
        """Read the encoder and make the layers."""
        self._build(load_frozen(folder))


class ContextualHierarchical(WordAndVectorRows, HierarchicalNetwork):
    """A reader of words and a reader of turns; each word is its own vector and, beside it, a frozen encoder's.

    The settings are those of the hierarchical network, and `encoder` with `encoder_layers`, how many of its last layers
    are averaged.
    """

    def __init__(
        self, outputs: int, *, encoder: str = "bert-base-uncased", encoder_layers: int = 1, **shared: Any
    ) -> None:
        super().__init__(outputs, **shared)
        self.name = encoder
        self.encoder_layers = encoder_layers
        self.device = device_of("auto")
        self.frozen: FrozenEncoder

    @property
    def input_size(self) -> int:
        """Both vectors side by side."""
        return self.size + self.frozen.width

    def prepare(self, examples: Sequence[Example], fitting: FitContext) -> None:
        """Load the encoder, learn the vocabulary, make the layers."""
        self.device = device_of(fitting.device)
        self._use(frozen_encoder(self.name))
        super().prepare(examples, fitting)

    def turn_vectors(self, batch: Batch) -> Tensor:
        """A vector for each turn of each example, one below the other."""
        words = torch.cat([self.embed(batch["words"]), self.dropout(batch["contextual"].float())], dim=-1)
        return cast(Tensor, self.pool(self.reader(words, batch["lengths"]), batch["lengths"]))

    def forward(self, batch: Batch) -> Tensor:
        """A score per example and output."""
        with full_precision(batch["contextual"]):
            return super().forward(batch)

    def export(self, exporter: "Exporter", labels: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> "Exported":
        return exporter.words(self, labels, questions, self.frozen_features)

    def save_assets(self, folder: Path) -> None:
        """Write the vocabulary, and the encoder, which is not among the trained weights."""
        super().save_assets(folder)
        self.frozen.save(folder)

    def load_assets(self, folder: Path) -> None:
        """Read what `save_assets` wrote and make the layers."""
        self._use(load_frozen(folder))
        super().load_assets(folder)

    def _use(self, frozen: FrozenEncoder) -> None:
        self.frozen = frozen
        self.frozen_features: FrozenFeatures = frozen.features(self.device, self.encoder_layers)
