"""Further pretraining of an encoder on unlabelled text: masked words, and next-turn prediction."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.text.window import TokenRow, Window
from emoscope.models.torch.checkpoint import Epoch
from emoscope.models.torch.losses import MeanLoss
from emoscope.models.torch.network import Batch, Item, Trainable, without_decay_of_vectors
from emoscope.models.torch.pretrained import Encoder, PretrainedTokenizer
from emoscope.models.torch.training import NetworkTrainer, Training, device_of

if TYPE_CHECKING:
    from emoscope.models.torch.transformer import Transformer

_MASKED = 0.15
_FAVOURED = 0.5
_NO_TARGET = -1

# The last pretraining of this process: the folds of an ensemble pretrain on the same text from the same weights.
_LAST: dict[str, tuple[dict[str, Tensor], list[Epoch]]] = {}


def pretrain_encoder(
    network: "Transformer",
    dialogues: Sequence[Dialogue],
    training: Training,
    fit_context: FitContext,
    *,
    following: bool = False,
) -> list[Epoch]:
    """Train the encoder of `network`, in place, on every turn of the dialogues in the network's own layout.

    15 % of the tokens are predicted (Devlin et al. 2019), and half of the `pretraining_words` that are a single token.
    With `following`, half of the turns that have context are swapped within the batch, and the encoder also learns to
    tell which. Returns the training curve.
    """
    examples = [Example(dialogue, turn) for dialogue in dialogues for turn in range(len(dialogue))]
    if not examples:
        raise EmoscopeError("there is no text to pretrain on")
    rows = network.window.rows(examples, network.tokenizer)
    device = device_of(fit_context.device).type
    get = network.settings
    shape = (get.num_layers, get.ffn_size, tuple(get.pretraining_words))
    how = (get.encoder, shape, network.window, training, fit_context.seed, device, fit_context.devices, following)
    digest = sha256(repr(how).encode())
    for row in rows:
        digest.update(row.token_ids.tobytes())
        digest.update(bytes(f"{row.first},{row.last};", "ascii"))
    key = digest.hexdigest()
    if key not in _LAST:
        model = MaskedLanguageModel(
            network.encoder, network.tokenizer, network.window, following, favoured=get.pretraining_words
        )
        curve = model.learn(rows, training, fit_context)
        weights = {name: value.detach().cpu().clone() for name, value in network.encoder.state_dict().items()}
        _LAST.clear()
        _LAST[key] = (weights, curve)
    state, curve = _LAST[key]
    network.encoder.load_state_dict(state)
    return curve


class MaskedLanguageModel(Trainable):
    """An encoder that predicts masked tokens; it outputs its loss, so that `NetworkTrainer` can train it."""

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: PretrainedTokenizer,
        window: Window,
        following: bool,
        favoured: Sequence[str] = (),
    ) -> None:
        super().__init__(1)
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.window = window
        self.following = following
        self.vocabulary_size = encoder.embeddings.num_embeddings
        self._special = np.array(tokenizer.special, np.int64)
        # Only words of a single token: part of a word could be guessed from the rest of it.
        self._favoured = np.array([row[0] for row in tokenizer.spelled(list(favoured)) if len(row) == 1], np.int64)
        # Sentence encoders lack the output layer; the identity is a better start than random weights.
        size = encoder.embeddings.embedding_dim
        self.transform = nn.Linear(encoder.width, size)
        nn.init.eye_(self.transform.weight)
        nn.init.zeros_(self.transform.bias)
        self.scale = nn.LayerNorm(size)
        self.bias = nn.Parameter(torch.zeros(self.vocabulary_size))
        if following:
            self.follows = nn.Sequential(
                nn.Linear(encoder.width, encoder.width), nn.Tanh(), nn.Linear(encoder.width, 2)
            )

    def learn(self, rows: Sequence[TokenRow], training: Training, fit_context: FitContext) -> list[Epoch]:
        """Train on rows of text, in place, and return the curve."""
        nothing = torch.zeros(len(rows), 1)
        return NetworkTrainer(self, [{"row": row} for row in rows], nothing, MeanLoss(), training, fit_context).train()

    def arrays(self, items: Sequence[Item]) -> dict[str, NDArray[Any]]:
        """Swap turns, mask tokens, and pad."""
        rows: list[TokenRow] = [item["row"] for item in items]
        answers = np.full(len(rows), _NO_TARGET, np.int64)
        if self.following:
            rows, answers = self._exchanged(rows)
        arrays = self.window.arrays(rows, self.tokenizer)
        token_ids = arrays["token_ids"]
        chosen, arrays["token_ids"] = self._masked(token_ids)
        arrays |= {"places": np.flatnonzero(chosen), "hidden": token_ids[chosen], "follows": answers}
        return arrays

    def _exchanged(self, rows: Sequence[TokenRow]) -> tuple[list[TokenRow], NDArray[np.int64]]:
        """Swap a random half of the turns with those of the next row; the answer is 1 for the others."""
        with_context = [number for number, row in enumerate(rows) if len(row.token_ids) > 1 + row.last - row.first]
        answers = np.full(len(rows), _NO_TARGET, np.int64)
        exchanged = list(rows)
        if len(with_context) < 2:
            return exchanged, answers
        coins = torch.rand(len(with_context)).numpy() < 0.5
        for place, number in enumerate(with_context):
            answers[number] = 0 if coins[place] else 1
            if coins[place]:
                other = rows[with_context[(place + 1) % len(with_context)]]
                exchanged[number] = _with_turn(rows[number], other, self.window.length)
        return exchanged, answers

    def _masked(self, token_ids: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """The tokens to predict, and what is shown instead: 80 % a mask, else a random token or the token itself."""
        # torch's random numbers, because the training loop seeds them for each epoch.
        chance = torch.rand(2, *token_ids.shape).numpy()
        open_to_chance = ~np.isin(token_ids, self._special)
        chosen = open_to_chance & (chance[0] < np.where(np.isin(token_ids, self._favoured), _FAVOURED, _MASKED))
        shown = token_ids.copy()
        shown[chosen & (chance[1] < 0.8)] = self.tokenizer.mask
        random = chosen & (chance[1] >= 0.9)
        shown[random] = torch.randint(self.vocabulary_size, (int(random.sum()),)).numpy()
        return chosen, shown

    def forward(self, batch: Batch) -> Tensor:
        vectors = self.encoder(batch["token_ids"], batch["mask"], batch["segments"])
        masked = vectors.flatten(0, 1)[batch["places"]]
        guesses = self.scale(functional.gelu(self.transform(masked))) @ self.encoder.embeddings.weight.T + self.bias
        loss = functional.cross_entropy(guesses.float(), batch["hidden"], reduction="sum")
        loss = loss / max(1, len(batch["hidden"]))
        if self.following:
            has_target = batch["follows"] != _NO_TARGET
            answers = functional.cross_entropy(
                self.follows(vectors[:, 0]).float(), batch["follows"], ignore_index=_NO_TARGET, reduction="sum"
            )
            loss = loss + answers / has_target.sum().clamp_min(1)
        return loss.expand(len(batch["token_ids"]), 1)

    def length(self, item: Item) -> int:
        return len(item["row"].token_ids)

    def parameter_groups(self, learning_rate: float) -> list[dict[str, object]]:
        return without_decay_of_vectors([(list(self.parameters()), learning_rate)])


def _with_turn(row: TokenRow, other: TokenRow, longest: int) -> TokenRow:
    """A row with the turn of another row, cut if it would become too long."""
    turn = other.token_ids[other.first : other.last]
    room = longest - (len(row.token_ids) - (row.last - row.first))
    if len(turn) > room:
        turn = np.concatenate([turn[: room - 1], turn[-1:]])
    token_ids = np.concatenate([row.token_ids[: row.first], turn, row.token_ids[row.last :]])
    return TokenRow(token_ids, row.first, row.first + len(turn))
