"""A causal language model that reads a dialogue as a prompt, with a linear head on its tokens' states."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from emoscope.core.dialogue import Example, Turn
from emoscope.core.emotion_words import TRIGGERS
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.fit_context import FitContext
from emoscope.core.mojibake import repair_mojibake
from emoscope.core.text import TRIGGER
from emoscope.models.text.padding import padded
from emoscope.models.torch.label_descriptions import described
from emoscope.models.torch.layers import full_precision
from emoscope.models.torch.network import Batch, Item, Network, without_decay_of_vectors
from emoscope.models.torch.pretrained import quiet

HEADS = "heads.safetensors"
BLANK = "____"
# Prefix, suffix and middle: how code models write a text with a gap, the gap last.
_INFILLING = (("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"), ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"))
Pooling = Literal["last", "mean"]
_QUOTED = 200  # characters of a turn that the question repeats
_LORA_LAYERS = "all-linear"
_NEVER = torch.finfo(torch.bfloat16).min  # in an attention mask


class Decoder(Network):
    """A causal language model of transformers, by hub name or folder, as a classifier of dialogues.

    `heads` maps each label set to its labels. The prompt asks for one of them, and the logits of its labels are read
    off the state of the prompt's last token or, with `pooling="mean"`, the mean of all. A head is initialised with the
    embeddings of the label words, which is the language model's own guess. Sequences are padded on the right, so causal
    attention needs no mask, and padding cannot reach a gradient.

    `context` is the number of turns read, the labelled one included, `following` the number after it, and `max_length`
    the number of tokens; the oldest turns are dropped first. `infilling` presents a masked word as a gap, if the model
    was pretrained to fill gaps: its guess is then a word, not the answer to a question. `list_labels` lists the labels
    in the prompt, without which prompts are shorter; `describe_labels` says there what each means. `bidirectional` lets
    every token see the whole prompt. `lora_rank` trains low-rank adapters instead of all weights (needs peft),
    `gradient_checkpointing` trades time for memory, and `head_factor` multiplies the learning rate of the heads.
    """

    def __init__(
        self,
        outputs: int,
        *,
        decoder: str = "Qwen/Qwen2.5-1.5B-Instruct",
        heads: Mapping[str, Sequence[str]],
        context: int = 3,
        following: int = 0,
        infilling: bool = False,
        max_length: int = 192,
        list_labels: bool = True,
        describe_labels: bool = False,
        bidirectional: bool = False,
        pooling: Pooling = "last",
        lora_rank: int = 0,
        gradient_checkpointing: bool = False,
        head_factor: float = 5.0,
    ) -> None:
        super().__init__(outputs)
        self.labels = {name: tuple(labels) for name, labels in heads.items()}
        if outputs != sum(map(len, self.labels.values())):
            raise EmoscopeError(f"a decoder with {outputs} outputs cannot have the heads {', '.join(self.labels)}")
        if describe_labels and not list_labels:
            raise EmoscopeError("describe_labels: labels that are not listed cannot be described; use list_labels=true")
        if lora_rank < 0:
            raise EmoscopeError(f"lora_rank: expected a positive number, or 0 to train all weights, found {lora_rank}")
        if pooling not in get_args(Pooling):
            raise EmoscopeError(f"pooling: expected {' or '.join(get_args(Pooling))}, found {pooling!r}")
        self.name = decoder
        self.context = context
        self.following = following
        self.infilling = infilling
        self.max_length = max_length
        self.list_labels = list_labels
        self.describe_labels = describe_labels
        self.bidirectional = bidirectional
        self.pooling = pooling
        self.lora_rank = lora_rank
        self.gradient_checkpointing = gradient_checkpointing
        self.head_factor = head_factor

    def prepare(self, examples: Sequence[Example], fit_context: FitContext) -> None:
        del examples, fit_context
        model, tokenizer = _pretrained(self.name)
        self._build(deepcopy(model), tokenizer)
        if self.bidirectional:
            self._check_bidirectional()
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
            config = peft.LoraConfig(
                r=self.lora_rank,
                lora_alpha=2 * self.lora_rank,
                target_modules=_LORA_LAYERS,
                # GPT-2's layers keep their weights transposed.
                fan_in_fan_out=any(type(layer).__name__ == "Conv1D" for layer in model.modules()),
            )
            if self.gradient_checkpointing:
                model.enable_input_require_grads()
            try:
                model = peft.get_peft_model(model, config)
            except ValueError as error:
                reason = str(error).splitlines()[0]
                raise EmoscopeError(f"lora_rank: peft has no adapters for {self.name}: {reason}") from None
        self.decoder = model.float()
        self.tokenizer = tokenizer
        self.padding = padding_of(tokenizer)
        size = int(model.config.get_text_config().hidden_size)
        self.gap = _gap_tokens(tokenizer) if self.infilling else None
        self.head = nn.ModuleDict({_key(name): nn.Linear(size, len(labels)) for name, labels in self.labels.items()})

    def _check_bidirectional(self) -> None:
        """Raise an error if the first of a few tokens does not see the last: some architectures take no such mask."""
        first, second, *_ = (token for token in range(8) if token != self.padding)
        rows: list[Item] = [{"token_ids": [first, first, first, last]} for last in (first, second)]
        was_training = self.training
        self.eval()
        try:
            with torch.no_grad():
                states = self.states(self.collate(rows))[:, 0]
            seen = not torch.equal(states[0], states[1])
        except (RuntimeError, ValueError, TypeError):
            seen = False
        self.train(was_training)
        if not seen:
            kind = self.decoder.config.model_type
            raise EmoscopeError(f"bidirectional: {self.name} ({kind}) takes no mask for it; use bidirectional=false")

    def _label_embeddings(self, labels: Sequence[str]) -> Tensor:
        table = self.decoder.get_input_embeddings().weight
        if self.gap is not None and set(labels) == set(TRIGGERS):  # a gap is filled by an emotion word
            words = [[f" {word}" for word in TRIGGERS[label]] for label in labels]
            return torch.stack([table[[ids[0] for ids in self._ids(each)]].mean(0) for each in words]).float()
        # Numbers are labels without names; two of them may begin with the same token.
        ids = self._ids([f" {label}" if not label.isdigit() else f" {label}:" for label in labels])
        return torch.stack([table[row].mean(0) for row in ids]).float()

    def encode(self, examples: Sequence[Example]) -> list[Item]:
        return self.encode_for(examples, [next(iter(self.labels))] * len(examples))

    def encode_for(self, examples: Sequence[Example], heads: Sequence[str]) -> list[Item]:
        """Token ids of the prompts, each for the labels of one head."""
        prompts = [self._prompt(example, head) for example, head in zip(examples, heads, strict=True)]
        texts = list(dict.fromkeys(text for prompt in prompts for text in prompt))
        ids = dict(zip(texts, self._ids(texts), strict=True))
        items = []
        for example, prompt in zip(examples, prompts, strict=True):
            *turns, question = [ids[text] for text in prompt]
            before = min(example.turn, self.context - 1)
            if self._has_gap(example):
                token_ids, cut = self._gap_filled(turns[0], question)
                before = 0
            else:
                token_ids, cut = self._fit_length(turns, before, question)
            items.append({"token_ids": token_ids, "truncated": cut or example.turn > before})
        return items

    def _has_gap(self, example: Example) -> bool:
        return self.gap is not None and TRIGGER in example.text

    def _prompt(self, example: Example, head: str) -> list[str]:
        """The turns and the question, or the texts before and after a gap."""
        if self._has_gap(example):
            before, _, after = repair_mojibake(example.text).partition(TRIGGER)
            space = " " if after[:1].isspace() else ""
            return [" ".join(before.split()), space + " ".join(after.replace(TRIGGER, BLANK).split())]
        first = max(0, example.turn + 1 - self.context)
        turns = example.dialogue.turns[first : example.turn + 1 + self.following]
        last = example.turn - first
        lines = dialogue_lines(turns, last)
        asked = "the last message" if last + 1 == len(turns) else f'"{lines[last][:_QUOTED].strip()}"'
        return [*lines, self._question(head, asked)]

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        ids: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return ids

    def _fit_length(self, turns: Sequence[list[int]], place: int, question: list[int]) -> tuple[list[int], bool]:
        """The turns nearest to the labelled one that fit before the question; of a labelled turn that is too long, its
        beginning and its end."""
        room = self.max_length - len(question)
        if room < 1:
            raise EmoscopeError(f"max_length: expected more than the {len(question)} tokens of the question alone")
        row = turns[place]
        if len(row) > room:
            half = room // 2
            return [*row[:half], *row[-(room - half) :], *question], True
        row = [*row, *chain.from_iterable(turns[place + 1 :])]
        cut = len(row) > room
        row = row[:room]
        for turn in reversed(turns[:place]):
            if len(row) + len(turn) > room:
                return [*row, *question], True
            row = turn + row
        return [*row, *question], cut

    def _gap_filled(self, before: list[int], after: list[int]) -> tuple[list[int], bool]:
        """The tokens around a gap, the nearest if there are too many."""
        assert self.gap is not None
        prefix, suffix, middle = self.gap
        room = self.max_length - 3
        kept_after = after[: max(room - len(before), room // 2)]
        kept_before = before[max(0, len(before) + len(kept_after) - room) :]
        cut = len(kept_before) + len(kept_after) < len(before) + len(after)
        return [prefix, *kept_before, suffix, *kept_after, middle], cut

    def _question(self, head: str, asked: str) -> str:
        labels = self.labels[head]
        named = not labels[0].isdigit()  # the labels of emoji are numbers
        questions = {"iest": f"Emotion of the word {BLANK}", "sentiment": f"Sentiment of {asked}"}
        question = questions.get(head, f"{'Emotion' if named else 'Emoji'} of {asked}")
        if not (named and self.list_labels):
            return f"{question}:"
        listed = "; ".join(map(described, labels)) if self.describe_labels else ", ".join(labels)
        return f"{question} ({listed}):"

    def arrays(self, items: Sequence[Item]) -> dict[str, NDArray[Any]]:
        rows = [item["token_ids"] for item in items]
        return {"token_ids": padded(rows, self.padding), "lengths": np.array([len(row) for row in rows])}

    def states(self, batch: Batch) -> Tensor:
        """The states of all tokens."""
        ids, mask = batch["token_ids"], None
        if self.bidirectional:
            # Added to the scores: without fused attention, transformers would add a boolean mask as 0 and 1.
            hidden = torch.zeros(ids.shape, device=ids.device).masked_fill(~_inside(batch), _NEVER)
            mask = hidden[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
        states: Tensor = self.decoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return states

    def forward(self, batch: Batch) -> Tensor:
        states, lengths = self.states(batch), batch["lengths"]
        if self.pooling == "mean":
            pooled = states.float().masked_fill(~_inside(batch)[..., None], 0).sum(1) / lengths[:, None]
        else:
            pooled = states[torch.arange(len(states), device=states.device), lengths - 1].float()
        with full_precision(pooled):
            return torch.cat([layer(pooled) for layer in self.head.values()], -1)

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


def check_decoder(name: str) -> None:
    """Raise an error unless `name` is a folder with a language model, or can be resolved on the hub or in its cache."""
    transformers = require("transformers", extra="train")
    if Path(name).is_dir() and not any(Path(name).glob("*.safetensors")):
        raise _unreadable(name, "it has no safetensors weights")
    with quiet(), _one_line(name):
        _check_causal(name, transformers.AutoConfig.from_pretrained(name))
        transformers.AutoTokenizer.from_pretrained(name)


def _check_causal(name: str, config: Any) -> None:
    """Raise an error for an encoder, or a model with encoder and decoder: an encoder would see the padding."""
    require("transformers", extra="train")
    from transformers.models.auto import modeling_auto

    kind = config.model_type
    encoder = kind in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES and not getattr(config, "is_decoder", False)
    causal = kind in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and not encoder
    if not causal or getattr(config, "is_encoder_decoder", False):
        raise _unreadable(name, f"{kind} is another kind of model")


@lru_cache(maxsize=1)
def _pretrained(name: str) -> tuple[Any, Any]:
    """A pretrained decoder and its tokenizer; cached, as members of an ensemble share them."""
    return load_decoder(name)


def load_decoder(name: str, *, with_output: bool = False) -> tuple[Any, Any]:
    """A pretrained decoder, with its output layer if asked, and its tokenizer."""
    transformers = require("transformers", extra="train")
    with quiet(), _one_line(name):
        _check_causal(name, transformers.AutoConfig.from_pretrained(name))
        kind = transformers.AutoModelForCausalLM if with_output else transformers.AutoModel
        model = kind.from_pretrained(name, dtype=torch.bfloat16, use_safetensors=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    return model, tokenizer


def padding_of(tokenizer: Any) -> int:
    """The token that fills up short rows."""
    return int(tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id)


def dialogue_lines(turns: Sequence[Turn], last: int | None = None) -> list[str]:
    """The turns as lines of a prompt; if no speakers are known, that of turn `last` is the user.

    >>> dialogue_lines([Turn("hi"), Turn("hello", "Ann"), Turn("so [#TRIGGERWORD#]")])
    ['User: hi\\n', 'Ann: hello\\n', 'User: so ____\\n']
    """
    last = len(turns) - 1 if last is None else last
    speakers = [turn.speaker or ("User", "Agent")[(last - place) % 2] for place, turn in enumerate(turns)]
    return [f"{name}: {_plain(turn.text)}\n" for name, turn in zip(speakers, turns, strict=True)]


@contextmanager
def _one_line(name: str) -> Iterator[None]:
    """Say in one line why a language model cannot be read."""
    if not Path(name).is_dir() and (name.startswith((".", "/", "~")) or name.count("/") > 1):
        raise _unreadable(name, "no such folder")
    try:
        yield
    except (OSError, ValueError, KeyError) as error:
        lines = (line.strip() for line in str(error).splitlines())
        raise _unreadable(name, next(filter(None, lines), type(error).__name__)) from None


def _unreadable(name: str, reason: str) -> EmoscopeError:
    return EmoscopeError(
        f"decoder {name}: expected a folder with a causal language model (config.json, tokenizer, safetensors weights) "
        f"or a name on the Hugging Face hub ({reason})"
    )


def _inside(batch: Batch) -> Tensor:
    """Which tokens are not padding."""
    ids = batch["token_ids"]
    return torch.arange(ids.shape[1], device=ids.device) < batch["lengths"][:, None]


def _key(head: str) -> str:
    """A head's name as a module name, which may not contain dots."""
    return head.replace(".", "_")


def _gap_tokens(tokenizer: Any) -> tuple[int, int, int] | None:
    """The ids of the tokens before the prefix, the suffix and the middle; none for a model that fills no gaps."""
    vocabulary = tokenizer.get_vocab()
    for prefix, suffix, middle in _INFILLING:
        if prefix in vocabulary:
            return vocabulary[prefix], vocabulary[suffix], vocabulary[middle]
    return None


def _plain(text: str) -> str:
    return " ".join(repair_mojibake(text).replace(TRIGGER, BLANK).split())
