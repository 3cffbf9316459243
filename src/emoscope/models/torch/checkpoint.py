"""Where a long loop keeps what it needs to go on after a kill: tensors as safetensors, the rest as JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from emoscope.core.files import atomic_write

FILE = "progress.json"


class Checkpoint:
    """The last whole epoch of a loop, in a folder of its own; without a folder nothing is kept.

    `settings` say what is trained and how: a checkpoint of other settings is not gone on from.
    """

    def __init__(self, folder: Path | None, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.settings = json.loads(json.dumps(dict(settings)))

    def write(self, epoch: int, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Keep an epoch in place of the last one; the JSON is written last, as the sign that the tensors are whole."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".epoch-{epoch}.part"
        save_file({name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}, part)
        part.replace(self._tensors(epoch))
        with atomic_write(self.folder / FILE) as handle:
            json.dump({"epoch": epoch, "settings": self.settings, "facts": dict(facts)}, handle)
        for old in self.folder.glob("epoch-*.safetensors"):
            if old != self._tensors(epoch):
                old.unlink()

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The kept tensors and facts, if there are any of the same settings."""
        if self.folder is None or not (self.folder / FILE).is_file():
            return None
        content = json.loads((self.folder / FILE).read_text(encoding="utf-8"))
        if content.get("settings") != self.settings or not self._tensors(content["epoch"]).is_file():
            return None
        return load_file(self._tensors(content["epoch"])), content["facts"]

    def _tensors(self, epoch: int) -> Path:
        assert self.folder is not None
        return self.folder / f"epoch-{epoch}.safetensors"


def named(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Tensors under a prefix, so that several sets fit one file; `unnamed` takes them out again.

    >>> unnamed(named({"a": torch.ones(1)}, "model"), "model")
    {'a': tensor([1.])}
    """
    return {f"{prefix}/{name}": value for name, value in tensors.items()}


def unnamed(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors under a prefix, without it."""
    return {name.removeprefix(f"{prefix}/"): value for name, value in tensors.items() if name.startswith(f"{prefix}/")}


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimiser remembers of each parameter."""
    memory = optimiser.state_dict()["state"]
    return {f"{number}/{key}": value for number, kept in memory.items() for key, value in kept.items()}


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Give an optimiser back what `optimiser_tensors` took."""
    memory: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, key = name.split("/", 1)
        memory.setdefault(int(number), {})[key] = value
    if memory:
        optimiser.load_state_dict({**optimiser.state_dict(), "state": memory})
