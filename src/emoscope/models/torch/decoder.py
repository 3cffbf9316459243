"""A causal language model that reads a dialogue as a prompt, with a linear head on the last token's state."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from emoscope.core.dialogue import Example, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.fit_context import FitContext
from emoscope.core.mojibake import repair_mojibake
from emoscope.core.text import TRIGGER
from emoscope.models.text.padding import padded
from emoscope.models.torch.layers import full_precision
from emoscope.models.torch.network import Batch, Item, Network, without_decay_of_vectors
from emoscope.models.torch.pretrained import quiet

HEADS = "heads.safetensors"
BLANK = "____"
_LORA_LAYERS = "all-linear"


class Decoder(Network):
    """A causal language model of transformers, by hub name or folder, as a classifier of dialogues.

    `heads` maps each label set to its labels. The prompt asks for one of them, and the logits of its labels are read
    off the state of the prompt's last token. A head is initialised with the embeddings of the label words, which is
    the language model's own guess. Sequences are padded on the right, so causal attention needs no mask, and padding
    cannot reach a gradient.

    `context` is the number of turns read, the labelled one included, and `max_length` the number of tokens; the oldest
    are dropped first. `list_labels` lists the labels in the prompt; without it prompts are shorter. `bidirectional`
    lets every token see the whole prompt. `lora_rank` trains low-rank adapters instead of all weights (needs peft),
    `gradient_checkpointing` trades time for memory, and `head_factor` multiplies the learning rate of the heads.
    """

    def __init__(
        self,
        outputs: int,
        *,
        decoder: str = "Qwen/Qwen2.5-1.5B-Instruct",
        heads: Mapping[str, Sequence[str]],
        context: int = 3,
        max_length: int = 192,
        list_labels: bool = True,
        bidirectional: bool = False,
        lora_rank: int = 0,
        gradient_checkpointing: bool = False,
        head_factor: float = 5.0,
    ) -> None:
        super().__init__(outputs)
        self.labels = {name: tuple(labels) for name, labels in heads.items()}
        if outputs != sum(map(len, self.labels.values())):
            raise EmoscopeError(f"a decoder with {outputs} outputs cannot have the heads {', '.join(self.labels)}")
        self.name = decoder
        self.context = context
        self.max_length = max_length
        self.list_labels = list_labels
        self.bidirectional = bidirectional
        self.lora_rank = lora_rank
        self.gradient_checkpointing = gradient_checkpointing
        self.head_factor = head_factor

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        del examples, fit_context
        model, tokenizer = _pretrained(self.name)
        self._build(deepcopy(model), tokenizer)
        heads_file = Path(self.name) / HEADS
        weights = load_file(heads_file) if heads_file.is_file() else {}
        for name, labels in self.labels.items():
            weight = weights.get(f"{name}.weight")
            layer = self.head[_key(name)]
            assert isinstance(layer, nn.Linear)
            with torch.no_grad():
                if weight is not None and weight.shape == layer.weight.shape:
                    layer.weight.copy_(weight)
                    layer.bias.copy_(weights[f"{name}.bias"])
                else:
                    layer.weight.copy_(self._label_embeddings(labels))
                    layer.bias.zero_()

    def _build(self, model: Any, tokenizer: Any) -> None:
        model.config.use_cache = False
        if self.gradient_checkpointing:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if self.lora_rank:
            peft = require("peft", extra="lora")
            config = peft.LoraConfig(r=self.lora_rank, lora_alpha=2 * self.lora_rank, target_modules=_LORA_LAYERS)
            if self.gradient_checkpointing:
                model.enable_input_require_grads()
            model = peft.get_peft_model(model, config)
        self.decoder = model.float()
        self.tokenizer = tokenizer
        self.padding = int(tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id)
        size = int(model.config.hidden_size)
        self.head = nn.ModuleDict({_key(name): nn.Linear(size, len(labels)) for name, labels in self.labels.items()})

    def _label_embeddings(self, labels: Sequence[str]) -> Tensor:
        table = self.decoder.get_input_embeddings().weight
        # Numbers are labels without names; two of them may begin with the same token.
        words = [f" {label}" if not label.isdigit() else f" {label}:" for label in labels]
        rows = [table[self.tokenizer(word, add_special_tokens=False)["input_ids"]].mean(0) for word in words]
        return torch.stack(rows).float()

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        return self.encode_for(examples, [next(iter(self.labels))] * len(examples))

    def encode_for(self, examples: Sequence[Example], heads: Sequence[str]) -> list[Item]:
        """Token ids of the prompts, each for the labels of one head."""
        turns = [self._lines(example) for example in examples]
        lines = list(dict.fromkeys(line for turn_lines in turns for line in turn_lines))
        ids = dict(zip(lines, self._ids(lines), strict=True))
        suffixes = {name: self._ids([self._question(name)])[0] for name in self.labels}
        items = []
        for example, turn_lines, head in zip(examples, turns, heads, strict=True):
            token_ids, cut = self._fit_length([ids[line] for line in turn_lines], suffixes[head])
            items.append({"token_ids": token_ids, "truncated": cut or example.turn + 1 > len(turn_lines)})
        return items

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        ids: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return ids

    def _fit_length(self, turns: Sequence[list[int]], question: list[int]) -> tuple[list[int], bool]:
        """The latest turns that fit before the question; of a turn that is too long, its beginning and its end."""
        room = self.max_length - len(question)
        row = turns[-1]
        if len(row) > room:
            half = room // 2
            return [*row[:half], *row[-(room - half) :], *question], True
        for turn in reversed(turns[:-1]):
            if len(row) + len(turn) > room:
                return [*row, *question], True
            row = turn + row
        return [*row, *question], False

    def _lines(self, example: Example) -> list[str]:
        turns = example.dialogue.turns[max(0, example.turn + 1 - self.context) : example.turn + 1]
        return [f"{_speaker(turns, place)}: {_plain(turn.text)}\n" for place, turn in enumerate(turns)]

    def _question(self, head: str) -> str:
        labels = self.labels[head]
        named = not labels[0].isdigit()  # the labels of emoji are numbers
        questions = {"iest": f"Emotion of the word {BLANK}", "sentiment": "Sentiment of the last message"}
        question = questions.get(head, f"{'Emotion' if named else 'Emoji'} of the last message")
        return f"{question} ({', '.join(labels)}):" if named and self.list_labels else f"{question}:"

    def arrays(self, items: Sequence[Item]) -> dict[str, NDArray[Any]]:
        rows = [item["token_ids"] for item in items]
        return {"token_ids": padded(rows, self.padding), "lengths": np.array([len(row) for row in rows])}

    def forward(self, batch: Batch) -> Tensor:
        ids, lengths = batch["token_ids"], batch["lengths"]
        mask = None
        if self.bidirectional:
            inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
            mask = inside[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
        states = self.decoder(input_ids=ids, attention_mask=mask).last_hidden_state
        last = states[torch.arange(len(ids), device=ids.device), lengths - 1]
        with full_precision(last):
            return torch.cat([layer(last.float()) for layer in self.head.values()], -1)

    def length(self, item: Item) -> int:
        return len(item["token_ids"])

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        heads = {id(parameter) for parameter in self.head.parameters()}
        rest = [p for p in self.parameters() if id(p) not in heads and p.requires_grad]
        head = {"params": list(self.head.parameters()), "lr": learning_rate * self.head_factor, "weight_decay": 0.0}
        return [*without_decay_of_vectors([(rest, learning_rate)]), head]

    def save_pretrained(self, folder: Path) -> None:
        """Write a Hugging Face folder with half-precision weights and the heads, from which another run can start."""
        folder.mkdir(parents=True, exist_ok=True)
        model = deepcopy(self.decoder)
        if self.lora_rank:
            model = model.merge_and_unload()
        with quiet():
            model.to(torch.bfloat16).save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        tensors = {
            f"{name}.{part}": getattr(self.head[_key(name)], part).detach().cpu().float().contiguous()
            for name in self.labels
            for part in ("weight", "bias")
        }
        save_file(tensors, folder / HEADS)

    def save_assets(self, folder: Path) -> None:
        self.tokenizer.save_pretrained(folder / "decoder")
        self.decoder.config.save_pretrained(folder / "decoder")

    def load_assets(self, folder: Path) -> None:
        transformers = require("transformers", extra="train")
        config = transformers.AutoConfig.from_pretrained(folder / "decoder", local_files_only=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "decoder", local_files_only=True)
        self._build(transformers.AutoModel.from_config(config), tokenizer)


@lru_cache(maxsize=1)
def _pretrained(name: str) -> tuple[Any, Any]:
    """A pretrained decoder and its tokenizer; cached, as members of an ensemble share them."""
    transformers = require("transformers", extra="train")
    try:
        with quiet():
            model = transformers.AutoModel.from_pretrained(name, dtype=torch.bfloat16, use_safetensors=True)
            tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise EmoscopeError(f"{name}: is not a language model that transformers can read ({error})") from None
    return model, tokenizer


def _key(head: str) -> str:
    """A head's name as a module name, which may not contain dots."""
    return head.replace(".", "_")


def _speaker(turns: Sequence[Turn], place: int) -> str:
    """The speaker of a turn; if unknown, the last one is the user and turns alternate."""
    return turns[place].speaker or ("User", "Agent")[(len(turns) - 1 - place) % 2]


def _plain(text: str) -> str:
    return " ".join(repair_mojibake(text).replace(TRIGGER, BLANK).split())
