"""A pretrained transformer over a turn and the turns before it, fine-tuned or frozen."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.text.window import TokenRow, Window, focus_places
from emoscope.models.torch.frozen import FrozenEncoder, frozen_encoder, load_frozen
from emoscope.models.torch.layers import full_precision
from emoscope.models.torch.network import Batch, Item, Network, without_decay_of_vectors
from emoscope.models.torch.pretrained import (
    Encoder,
    PretrainedTokenizer,
    load_architecture,
    load_encoder,
    save_architecture,
)
from emoscope.models.torch.pruning import prune_ffn, prune_layers
from emoscope.models.torch.training import Training, device_of

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter
    from emoscope.models.onnx.exported import Exported

POOLINGS = ("cls", "mean", "max", "last-turn", "last-turn-max", "mask", "mean+focus")


class Transformer(Network):
    """Encoder, pooling, and a linear layer, or with `hidden_size` a layer of that size before it.

    `pooling` makes one vector of the tokens': the first one's (`cls`), the mean or the maximum of all, that of the
    labelled turn (`last-turn`, `last-turn-max`), or that of IEST's masked word (`mask`). `mean+focus` joins two: the
    mean of all, and that of the masked word or, without one, of the labelled turn. `context`, `reverse`, `speakers`,
    `names` and `max_length` are those of `Window`; `segments` marks the labelled turn by BERT's token types.

    `layer_decay` multiplies the learning rate once for each layer further down; `num_layers` and `ffn_size` prune the
    encoder (see `pruning`). A `frozen` encoder gives fixed features, computed once.

    `pretraining` continues the encoder's own pretraining before it is fine-tuned: `masked` words, or `masked+next`,
    which also asks whether the turn follows the ones before it. `pretraining_source` names the text (see
    `tasks.datasets.unlabelled`), `pretraining_text` limits its lines; 0 leaves pretraining out. Those of
    `pretraining_words` that are one token are masked every second time.
    """

    def __init__(
        self,
        outputs: int,
        *,
        encoder: str = "bert-base-uncased",
        pooling: str = "mean",
        context: int = 1,
        reverse: bool = False,
        speakers: str = "none",
        names: Sequence[str] = (),
        segments: bool = True,
        max_length: int = 128,
        frozen: bool = False,
        dropout: float = 0.1,
        hidden_size: int = 0,
        layer_decay: float = 1.0,
        num_layers: int | None = None,
        ffn_size: int | None = None,
        pretraining: str = "none",
        pretraining_source: str = "dialogues",
        pretraining_text: int | None = None,
        pretraining_words: Sequence[str] = (),
        lm_epochs: int = 1,
        lm_batch_size: int = 32,
        lm_learning_rate: float = 5e-5,
    ) -> None:
        super().__init__(outputs)
        if pooling not in POOLINGS:
            raise EmoscopeError(f"pooling: expected one of {', '.join(POOLINGS)}, found {pooling!r}")
        if pretraining not in ("none", "masked", "masked+next"):
            raise EmoscopeError(f"pretraining: expected none, masked or masked+next, found {pretraining!r}")
        if frozen and (pretraining != "none" or speakers != "none"):
            raise EmoscopeError("a frozen encoder cannot learn: leave out pretraining and speakers")
        self.name = encoder
        self.pooling = pooling
        self.window = Window(context, reverse, speakers, tuple(names), max_length)
        self.segments = segments
        self.is_frozen = frozen
        self.dropout = dropout
        self.hidden_size = hidden_size
        self.layer_decay = layer_decay
        self.num_layers = num_layers
        self.ffn_size = ffn_size
        self.pretraining = pretraining
        self.pretraining_source = pretraining_source
        self.pretraining_text = pretraining_text
        self.pretraining_words = tuple(pretraining_words)
        self.lm_training = Training(epochs=lm_epochs, batch_size=lm_batch_size, learning_rate=lm_learning_rate)
        self.frozen: FrozenEncoder | None = None
        self.device = device_of("auto")
        self.tokenizer: PretrainedTokenizer

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        self.device = device_of(fit_context.device)
        if self.is_frozen:
            self._build_frozen(frozen_encoder(self.name))
            return
        encoder, tokenizer = load_encoder(self.name)
        if self.num_layers is not None:
            prune_layers(encoder, self.num_layers)
        if self.ffn_size is not None:
            prune_ffn(encoder, self.ffn_size)
        if self.window.special:
            encoder.add_tokens(tokenizer, self.window.special)
        self._build(encoder, tokenizer)
        if self.pretraining != "none" and self.pretraining_text != 0 and self.lm_training.epochs:
            from emoscope.models.torch.masked_lm import pretrain_encoder
            from emoscope.tasks.datasets.unlabelled import unlabelled_dialogues

            texts = unlabelled_dialogues(self.pretraining_source, examples, fit_context, limit=self.pretraining_text)
            following = "next" in self.pretraining
            pretrain_encoder(self, texts, self.lm_training, fit_context.part("pretraining"), following=following)

    def _build_frozen(self, frozen: FrozenEncoder) -> None:
        self.frozen = frozen
        self._build(frozen.encoder, frozen.tokenizer)

    def _build(self, encoder: Encoder, tokenizer: PretrainedTokenizer) -> None:
        self.tokenizer = tokenizer
        if self.window.length > encoder.longest:
            raise EmoscopeError(f"max_length: {self.name} reads at most {encoder.longest}, not {self.window.length}")
        if self.frozen is None:
            self.encoder = encoder
        self.width = encoder.width * (2 if self.pooling == "mean+focus" else 1)
        self.replace_head(self.outputs)

    def replace_head(self, outputs: int) -> None:
        self.outputs = outputs
        layers: list[nn.Module] = [nn.Dropout(self.dropout)]
        if self.hidden_size:
            layers += [nn.Linear(self.width, self.hidden_size), nn.Tanh(), nn.Dropout(self.dropout)]
        last = nn.Linear(self.hidden_size or self.width, outputs)
        before = next(self.parameters(), last.weight).device
        self.head = nn.Sequential(*layers, last)
        for module in self.head.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)
        self.head.to(before)

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        rows = self.window.rows(examples, self.tokenizer)
        if self.frozen is None:
            return [{"row": row, "truncated": row.cut} for row in rows]
        vectors = self.frozen.vectors([row.token_ids for row in rows], self.device)
        return [
            {"vector": self._pooled(vector, row), "truncated": row.cut}
            for vector, row in zip(vectors, rows, strict=True)
        ]

    def _pooled(self, vectors: np.ndarray[Any, Any], row: TokenRow) -> np.ndarray[Any, Any]:
        batch = self._places([row])
        vector = self.pooled(torch.from_numpy(vectors).float()[None], batch)[0]
        return np.asarray(vector.half().numpy())

    def collate(self, items: Sequence[Item]) -> Batch:
        if self.frozen is not None:
            return {"vector": torch.from_numpy(np.stack([item["vector"] for item in items]))}
        return self._places([item["row"] for item in items])

    def _places(self, rows: Sequence[TokenRow]) -> Batch:
        arrays = self.window.arrays(rows, self.tokenizer)
        if not self.segments:
            del arrays["segments"]
        if self.pooling not in ("cls", "mean", "max"):
            special = {"mask": self.tokenizer.mask, "padding": self.tokenizer.padding}
            arrays["focus"] = focus_places(rows, arrays["token_ids"], self.pooling, **special)
        return {name: torch.from_numpy(table) for name, table in arrays.items()}

    def forward(self, batch: Batch) -> Tensor:
        if self.frozen is not None:
            vectors = batch["vector"]
        else:
            states = self.encoder(batch["token_ids"], batch["mask"], batch.get("segments"))
            vectors = self.pooled(states.float(), batch)
        with full_precision(vectors):
            logits: Tensor = self.head(vectors.float())
        return logits

    def pooled(self, vectors: Tensor, batch: Batch) -> Tensor:
        """One vector of the vectors of tokens."""
        if self.pooling == "cls":
            return vectors[:, 0]
        if self.pooling == "mean+focus":
            return torch.cat([_mean_of(vectors, batch["mask"]), _mean_of(vectors, batch["focus"])], -1)
        focus = batch.get("focus", batch["mask"])[..., None].bool()
        if self.pooling.endswith("max"):
            return vectors.masked_fill(~focus, float("-inf")).amax(1)
        return _mean_of(vectors, focus[..., 0])

    def length(self, item: Item) -> int:
        return 1 if self.frozen is not None else len(item["row"].token_ids)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Learning rates that fall from layer to layer; no weight decay for biases and normalisation."""
        stages = self.stages()
        if self.layer_decay == 1:  # an optimiser is faster with few groups
            return without_decay_of_vectors([([parameter for stage in stages for parameter in stage], learning_rate)])
        # The head and the top layer both learn at the full rate.
        rates = [learning_rate * self.layer_decay ** max(0, depth - 1) for depth in range(len(stages))]
        return without_decay_of_vectors(list(zip(stages, rates, strict=True)))

    def stages(self) -> list[list[nn.Parameter]]:
        """The head, then the encoder's layers from the top, then its embeddings."""
        stages = [list(self.head.parameters())]
        if self.frozen is None:
            stages += [list(layer.parameters()) for layer in reversed(self.encoder.layers)]
            seen = {id(parameter) for stage in stages for parameter in stage}
            stages.append([parameter for parameter in self.encoder.parameters() if id(parameter) not in seen])
        return stages

    def export(self, exporter: "Exporter", labels: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> "Exported":
        from emoscope.models.onnx.exported_encoder import ExportedEncoder

        return exporter.encoder(self, ExportedEncoder(labels, questions))

    def save_assets(self, folder: Path) -> None:
        """Write tokenizer and architecture; and a frozen encoder's weights, which are not among the trained ones."""
        if self.frozen is not None:
            self.frozen.save(folder)
        else:
            save_architecture(folder, self.encoder, self.tokenizer)

    def load_assets(self, folder: Path) -> None:
        if self.is_frozen:
            self._build_frozen(load_frozen(folder))
        else:
            self._build(*load_architecture(folder))


def _mean_of(vectors: Tensor, places: Tensor) -> Tensor:
    chosen = places[..., None].bool()
    return (vectors * chosen).sum(1) / chosen.sum(1)
