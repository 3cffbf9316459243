"""A pretrained transformer over a turn and the turns before it, fine-tuned or frozen."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
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

POOLINGS = ("cls", "mean", "max", "last-turn", "last-turn-max", "mask", "mean+focus")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerSettings:
    """The settings of a `Transformer`; `context` to `max_length` are those of `Window`."""

    encoder: str = "bert-base-uncased"
    pooling: str = "mean"
    """How the tokens' vectors are pooled: the first one (`cls`), the mean or the maximum of all, of the labelled turn
    (`last-turn`, `last-turn-max`), or of IEST's masked word (`mask`). `mean+focus` joins the mean of all and that of
    the masked word or, without one, of the labelled turn."""
    context: int = 1
    reverse: bool = False
    speakers: str = "none"
    names: Sequence[str] = ()
    max_length: int = 128
    segments: bool = True
    """Whether BERT's token types mark the labelled turn."""
    frozen: bool = False
    """Whether the encoder is frozen and its features are computed once."""
    dropout: float = 0.1
    word_dropout: float = 0.0
    """Share of the tokens masked in each training step, so that no word is learnt by heart (Iyyer et al. 2015)."""
    hidden_size: int = 0
    """Units of a layer before the output; 0 for none."""
    layer_decay: float = 1.0
    """Factor on the learning rate from each layer to the one below."""
    num_layers: int | None = None
    ffn_size: int | None = None
    """Sizes to which the encoder is pruned (see `pruning`)."""
    pretraining: str = "none"
    """Further pretraining before fine-tuning: `masked` words, or `masked+next`, which also predicts whether the turn
    follows the ones before it."""
    pretraining_source: str = "dialogues"
    """The text of that pretraining (see `tasks.datasets.unlabelled`)."""
    pretraining_text: int | None = None
    """Maximum number of lines of it; 0 turns pretraining off."""
    pretraining_words: Sequence[str] = ()
    """Words that are masked half of the time, if they are a single token."""
    lm_epochs: int = 1
    lm_batch_size: int = 32
    lm_learning_rate: float = 5e-5

    def __post_init__(self) -> None:
        if not 0 <= self.word_dropout < 1:
            raise EmoscopeError(f"word_dropout: expected a share from 0 to below 1, found {self.word_dropout}")
        if self.pooling not in POOLINGS:
            raise EmoscopeError(f"pooling: expected one of {', '.join(POOLINGS)}, found {self.pooling!r}")
        if self.pretraining not in ("none", "masked", "masked+next"):
            raise EmoscopeError(f"pretraining: expected none, masked or masked+next, found {self.pretraining!r}")
        if self.frozen and (self.pretraining != "none" or self.speakers != "none"):
            raise EmoscopeError("a frozen encoder cannot be trained: leave out pretraining and speakers")


class Transformer(Network):
    """Encoder, pooling, and a linear layer; with `hidden_size`, another layer of that size before it."""

    graph = "encoder"

    def __init__(self, outputs: int, **options: Any) -> None:
        super().__init__(outputs)
        settings = self.settings = TransformerSettings(**options)
        self.window = Window(
            settings.context, settings.reverse, settings.speakers, tuple(settings.names), settings.max_length
        )
        self.frozen: FrozenEncoder | None = None
        self.device = device_of("auto")
        self.tokenizer: PretrainedTokenizer

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        settings = self.settings
        self.device = device_of(fit_context.device)
        if settings.frozen:
            self._build_frozen(frozen_encoder(settings.encoder))
            return
        encoder, tokenizer = load_encoder(settings.encoder)
        if settings.num_layers is not None:
            prune_layers(encoder, settings.num_layers)
        if settings.ffn_size is not None:
            prune_ffn(encoder, settings.ffn_size)
        if self.window.special:
            encoder.add_tokens(tokenizer, self.window.special)
        self._build(encoder, tokenizer)
        if settings.pretraining != "none" and settings.pretraining_text != 0 and settings.lm_epochs:
            from emoscope.models.torch.masked_lm import pretrain_encoder
            from emoscope.tasks.datasets.unlabelled import unlabelled_dialogues

            texts = unlabelled_dialogues(
                settings.pretraining_source, examples, fit_context, limit=settings.pretraining_text
            )
            plan = Training(settings.lm_epochs, settings.lm_batch_size, settings.lm_learning_rate)
            following = "next" in settings.pretraining
            pretrain_encoder(self, texts, plan, fit_context.part("pretraining"), following=following)

    def _build_frozen(self, frozen: FrozenEncoder) -> None:
        self.frozen = frozen
        self._build(frozen.encoder, frozen.tokenizer)

    def _build(self, encoder: Encoder, tokenizer: PretrainedTokenizer) -> None:
        self.tokenizer = tokenizer
        name, length = self.settings.encoder, self.window.length
        if length > encoder.longest:
            raise EmoscopeError(f"max_length: {name} reads at most {encoder.longest}, not {length}")
        if self.frozen is None:
            self.encoder = encoder
        self.width = encoder.width * (2 if self.settings.pooling == "mean+focus" else 1)
        self.replace_head(self.outputs)

    def replace_head(self, outputs: int) -> None:
        self.outputs = outputs
        layers: list[nn.Module] = [nn.Dropout(self.settings.dropout)]
        if self.settings.hidden_size:
            layers += [nn.Linear(self.width, self.settings.hidden_size), nn.Tanh(), nn.Dropout(self.settings.dropout)]
        last = nn.Linear(self.settings.hidden_size or self.width, outputs)
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
        items: list[Item] = []
        for vector, row in zip(vectors, rows, strict=True):
            batch = {name: torch.from_numpy(table) for name, table in self._places([row]).items()}
            pooled = self.pooled(torch.from_numpy(vector).float()[None], batch)[0]
            items.append({"vector": pooled.half().numpy(), "truncated": row.cut})
        return items

    def arrays(self, items: Sequence[Item]) -> dict[str, NDArray[Any]]:
        if self.frozen is not None:
            return {"vector": np.stack([item["vector"] for item in items])}
        return self._places([item["row"] for item in items])

    def _places(self, rows: Sequence[TokenRow]) -> dict[str, NDArray[Any]]:
        arrays = self.window.arrays(rows, self.tokenizer)
        if not self.settings.segments:
            del arrays["segments"]
        if self.settings.pooling not in ("cls", "mean", "max"):
            special = {"mask": self.tokenizer.mask, "padding": self.tokenizer.padding}
            arrays["focus"] = focus_places(rows, arrays["token_ids"], self.settings.pooling, **special)
        return arrays

    def forward(self, batch: Batch) -> Tensor:
        if self.frozen is not None:
            vectors = batch["vector"]
        else:
            states = self.encoder(self._tokens(batch["token_ids"]), batch["mask"], batch.get("segments"))
            vectors = self.pooled(states.float(), batch)
        with full_precision(vectors):
            logits: Tensor = self.head(vectors.float())
        return logits

    def _tokens(self, token_ids: Tensor) -> Tensor:
        """The tokens, some of them masked in training."""
        if not (self.training and self.settings.word_dropout):
            return token_ids
        special = torch.tensor(self.tokenizer.special, device=token_ids.device)
        drawn = torch.rand(token_ids.shape, device=token_ids.device) < self.settings.word_dropout
        return token_ids.masked_fill(drawn & ~torch.isin(token_ids, special), self.tokenizer.mask)

    def pooled(self, vectors: Tensor, batch: Batch) -> Tensor:
        """Pool the vectors of tokens into one."""
        if self.settings.pooling == "cls":
            return vectors[:, 0]
        if self.settings.pooling == "mean+focus":
            return torch.cat([_mean_of(vectors, batch["mask"]), _mean_of(vectors, batch["focus"])], -1)
        focus = batch.get("focus", batch["mask"])[..., None].bool()
        if self.settings.pooling.endswith("max"):
            return vectors.masked_fill(~focus, float("-inf")).amax(1)
        return _mean_of(vectors, focus[..., 0])

    def length(self, item: Item) -> int:
        return 1 if self.frozen is not None else len(item["row"].token_ids)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """Learning rates that fall from layer to layer; no weight decay for biases and normalisation."""
        stages = self.stages()
        if self.settings.layer_decay == 1:  # few groups make the optimiser faster
            return without_decay_of_vectors([([parameter for stage in stages for parameter in stage], learning_rate)])
        # The head and the top layer both have the full learning rate.
        rates = [learning_rate * self.settings.layer_decay ** max(0, depth - 1) for depth in range(len(stages))]
        return without_decay_of_vectors(list(zip(stages, rates, strict=True)))

    def stages(self) -> list[list[nn.Parameter]]:
        """The head, then the encoder's layers from the top, then its embeddings."""
        stages = [list(self.head.parameters())]
        if self.frozen is None:
            stages += [list(layer.parameters()) for layer in reversed(self.encoder.layers)]
            seen = {id(parameter) for stage in stages for parameter in stage}
            stages.append([parameter for parameter in self.encoder.parameters() if id(parameter) not in seen])
        return stages

    def save_assets(self, folder: Path) -> None:
        """Write tokenizer and architecture, and a frozen encoder's weights, which are not among the trained ones."""
        if self.frozen is not None:
            self.frozen.save(folder)
        else:
            save_architecture(folder, self.encoder, self.tokenizer)

    def load_assets(self, folder: Path) -> None:
        if self.settings.frozen:
            self._build_frozen(load_frozen(folder))
        else:
            self._build(*load_architecture(folder))


def _mean_of(vectors: Tensor, places: Tensor) -> Tensor:
    chosen = places[..., None].bool()
    return (vectors * chosen).sum(1) / chosen.sum(1)
