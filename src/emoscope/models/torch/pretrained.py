"""Pretrained transformer encoders and their tokenizers, from a hub name or a folder; only safetensors, never code."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.models.text.tokenizer import Tokenizer

FOLDER = "encoder"


class PretrainedTokenizer(Tokenizer):
    """A Hugging Face tokenizer that can be extended and saved."""

    def __init__(self, tokenizer: Any) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise EmoscopeError("the encoder's tokenizer has no fast version (tokenizer.json)")
        self._tokenizer = tokenizer
        super().__init__(
            tokenizer.backend_tokenizer,
            start=self._special("cls"),
            end=self._special("sep"),
            mask=self._special("mask"),
            padding=self._special("pad"),
        )

    def _special(self, role: str) -> int:
        number = getattr(self._tokenizer, f"{role}_token_id", None)
        if number is None:
            raise EmoscopeError(f"the encoder's tokenizer has no {role} token; an encoder like BERT is needed")
        return int(number)

    def add(self, names: Sequence[str]) -> None:
        """Add a special token `[name]` for each name that has none."""
        self._tokenizer.add_tokens([f"[{name}]" for name in names], special_tokens=True)

    def save(self, folder: Path, max_length: int | None = None) -> None:
        """Write the tokenizer as a plain Hugging Face folder; with a length, it will truncate texts on the left."""
        if max_length is not None:
            self._tokenizer.model_max_length, self._tokenizer.truncation_side = max_length, "left"
        with quiet():
            self._tokenizer.save_pretrained(folder)

    def __len__(self) -> int:
        return len(self._tokenizer)


class Encoder(nn.Module):
    """A pretrained model that gives a vector for each token."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        if hasattr(model, "pooler"):
            model.pooler = None  # not used: we pool ourselves
        self.model = model

    @property
    def width(self) -> int:
        """The size of a token's vector."""
        return int(self.model.config.hidden_size)

    @property
    def longest(self) -> int:
        # RoBERTa-like models number positions from the padding id on.
        return int(self.model.config.max_position_embeddings) - 2

    @property
    def embeddings(self) -> nn.Embedding:
        """The table of token vectors."""
        table: nn.Embedding = self.model.get_input_embeddings()
        return table

    @property
    def layers(self) -> nn.ModuleList:
        """The stack of layers, lowest first."""
        return max((module for module in self.model.modules() if isinstance(module, nn.ModuleList)), key=len)

    def forward(self, token_ids: Tensor, mask: Tensor, segments: Tensor | None = None, layers: int = 1) -> Tensor:
        """The vectors of tokens: the last layer's, or the mean of the last `layers`."""
        extra: dict[str, Any] = {}
        if segments is not None and getattr(self.model.config, "type_vocab_size", 0) > 1:
            extra["token_type_ids"] = segments
        if layers > 1:
            extra["output_hidden_states"] = True
        result = self.model(input_ids=token_ids, attention_mask=mask, **extra)
        last: Tensor = result.last_hidden_state
        return last if layers == 1 else torch.stack(result.hidden_states[-layers:]).mean(0)

    def add_tokens(self, tokenizer: PretrainedTokenizer, names: Sequence[str]) -> None:
        """Add vectors for the special tokens of names, initialised from the tokens of the name itself.

        A name that already has a token, from further pretraining, keeps it.
        """
        new = [name for name in names if not tokenizer.has(name)]
        tokenizer.add(new)
        if len(tokenizer) > self.embeddings.num_embeddings:
            self.model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        table = self.embeddings.weight
        with torch.no_grad():
            for name, token_ids in zip(new, tokenizer.token_ids(new), strict=True):
                table[tokenizer.special_token_id(name)] = table[token_ids].mean(0)

    def save(self, folder: Path) -> None:
        """Write a plain Hugging Face folder, weights included, that `load_encoder` reads."""
        with quiet():
            self.model.save_pretrained(folder)


def load_encoder(name: str) -> tuple[Encoder, PretrainedTokenizer]:
    """A pretrained encoder and its tokenizer; a folder is read without touching the network."""
    transformers = require("transformers", extra="train")
    local = Path(name).is_dir()
    if not local and (name.startswith((".", "/", "~")) or name.count("/") > 1):
        raise EmoscopeError(f"encoder {name}: no such folder")
    options = {"local_files_only": local, "trust_remote_code": False}
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
            model = transformers.AutoModel.from_pretrained(name, use_safetensors=True, **options)
    except (OSError, ValueError, KeyError) as error:
        where = "in this folder" if local else "on the hub or in its cache"
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise EmoscopeError(f"encoder {name}: no encoder with safetensors weights {where} ({reason})") from None
    return Encoder(model.float()), PretrainedTokenizer(tokenizer)


def load_architecture(folder: Path) -> tuple[Encoder, PretrainedTokenizer]:
    """An encoder from what `save_architecture` wrote; its weights are loaded later."""
    transformers = require("transformers", extra="train")
    options = {"local_files_only": True, "trust_remote_code": False}
    path = folder / FOLDER
    try:
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(path, **options)
            config = transformers.AutoConfig.from_pretrained(path, **options)
            model = transformers.AutoModel.from_config(config, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise EmoscopeError(f"{path}: is not an encoder's description ({str(error).splitlines()[0]})") from None
    return Encoder(model.float()), PretrainedTokenizer(tokenizer)


def save_architecture(folder: Path, encoder: Encoder, tokenizer: PretrainedTokenizer) -> None:
    """Write configuration and tokenizer; the weights are saved with those of the whole network."""
    with quiet():
        encoder.model.config.save_pretrained(folder / FOLDER)
    tokenizer.save(folder / FOLDER)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the library's progress bars and advice, and the hub's warning of each retry: the error says it once."""
    settings = require("transformers", extra="train").utils.logging
    level, bars = settings.get_verbosity(), settings.is_progress_bar_enabled()
    settings.set_verbosity_error()
    settings.disable_progress_bar()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    hub.setLevel(logging.ERROR)
    try:
        yield
    finally:
        settings.set_verbosity(level)
        if bars:
            settings.enable_progress_bar()
        hub.setLevel(hub_level)
