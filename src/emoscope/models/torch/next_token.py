"""Further pretraining of a causal language model on unlabelled dialogues: each next token."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_folder
from emoscope.core.fit_context import FitContext
from emoscope.models.text.padding import padded
from emoscope.models.torch.checkpoint import Epoch
from emoscope.models.torch.decoder import dialogue_lines, load_decoder, padding_of
from emoscope.models.torch.losses import MeanLoss
from emoscope.models.torch.network import Batch, Item, Trainable, without_decay_of_vectors
from emoscope.models.torch.pretrained import quiet
from emoscope.models.torch.training import NetworkTrainer, Training


def adapt_decoder(
    pretrained: str,
    dialogues: Sequence[Dialogue],
    folder: Path,
    training: Training,
    fit_context: FitContext,
    *,
    max_length: int = 192,
    gradient_checkpointing: bool = False,
) -> list[Epoch]:
    """Train a language model on the dialogues, written as in a `Decoder`'s prompts, and save it in a folder.

    All weights are trained. A dialogue longer than `max_length` tokens is cut between turns. Returns the curve.
    """
    if not dialogues:
        raise EmoscopeError("there is no text to adapt the language model to")
    model, tokenizer = load_decoder(pretrained, with_output=True)
    model.config.use_cache = False
    if gradient_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    lines = [dialogue_lines(dialogue.turns) for dialogue in dialogues]
    ids = tokenizer([line for each in lines for line in each], add_special_tokens=False)["input_ids"]
    ends = list(accumulate(map(len, lines)))
    rows = [
        row
        for each, end in zip(lines, ends, strict=True)
        for row in joined(ids[end - len(each) : end], max_length)
        if len(row) > 1
    ]
    network = NextToken(model.float(), padding_of(tokenizer))
    items: list[Item] = [{"token_ids": row} for row in rows]
    curve = NetworkTrainer(network, items, torch.zeros(len(rows), 1), MeanLoss(), training, fit_context).train()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(folder) as part, quiet():
        model.to(torch.bfloat16).save_pretrained(part)
        tokenizer.save_pretrained(part)
    return curve


def joined(turns: Sequence[Sequence[int]], max_length: int) -> list[list[int]]:
    """Turns joined while they fit into `max_length` tokens; a longer turn loses its end.

    >>> joined([[1, 2], [3], [4, 5, 6, 7]], 3)
    [[1, 2, 3], [4, 5, 6]]
    """
    rows: list[list[int]] = []
    for turn in turns:
        if rows and len(rows[-1]) + len(turn) <= max_length:
            rows[-1] += turn
        else:
            rows.append(list(turn[:max_length]))
    return rows


class NextToken(Trainable):
    """A causal language model that outputs its loss, so that `NetworkTrainer` can train it."""

    def __init__(self, model: Any, padding: int) -> None:
        super().__init__(1)
        self.model = model
        self.padding = padding

    def arrays(self, items: Sequence[Item]) -> dict[str, NDArray[Any]]:
        rows = [item["token_ids"] for item in items]
        return {"token_ids": padded(rows, self.padding), "lengths": np.array([len(row) for row in rows])}

    def forward(self, batch: Batch) -> Tensor:
        ids = batch["token_ids"]
        # Padding is on the right, where causal attention does not see it.
        states = self.model.base_model(input_ids=ids).last_hidden_state[:, :-1]
        places = torch.arange(1, ids.shape[1], device=ids.device)
        inside = places < batch["lengths"][:, None]
        logits = self.model.get_output_embeddings()(states[inside])
        loss = functional.cross_entropy(logits.float(), ids[:, 1:][inside])
        return loss.expand(len(ids), 1)

    def length(self, item: Item) -> int:
        return len(item["token_ids"])

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        return without_decay_of_vectors([(list(self.parameters()), learning_rate)])
