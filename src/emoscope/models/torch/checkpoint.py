"""Checkpoints: the state of a training at the end of an epoch, from which an interrupted run resumes."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from emoscope.core.files import read_json, write_json

FILE, TENSORS = "progress.json", "epoch-{}.safetensors"


@dataclass(frozen=True, slots=True)
class Epoch:
    """One point of the training curve."""

    epoch: int
    loss: float
    held_out: float | None = None


@dataclass(eq=False)
class TrainingState:
    """The weights, the optimiser and the curve of a training, with the best and the averaged weights.

    The last complete epoch is kept in `folder`: tensors as safetensors, the rest as JSON. Without a folder nothing is
    written. `settings` identify the training; a checkpoint with others is ignored. If several processes train together,
    all read the checkpoint, but only the one with `writes` saves it.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    folder: Path | None
    settings: Mapping[str, Any]
    writes: bool = True
    curve: list[Epoch] = field(default_factory=list)
    best: dict[str, Tensor] | None = None
    averaged: dict[str, Tensor] | None = None

    def __post_init__(self) -> None:
        self.settings = json.loads(json.dumps(self.settings))  # as it is read back

    def should_stop(self, patience: int) -> bool:
        """Whether the held-out loss has not improved for `patience` epochs; 0 never stops."""
        held_out = [epoch.held_out for epoch in self.curve if epoch.held_out is not None]
        return bool(patience and held_out and len(held_out) - 1 - held_out.index(min(held_out)) >= patience)

    def average_weights(self, decay: float) -> None:
        """Update the exponential moving average of the weights; a decay of 0 keeps none."""
        if not decay:
            return
        with torch.no_grad():
            now = {name: value for name, value in self.model.state_dict().items() if value.is_floating_point()}
            if self.averaged is None:
                self.averaged = {name: value.detach().clone() for name, value in now.items()}
            for name, value in now.items():
                self.averaged[name].lerp_(value, 1 - decay)

    def finish_epoch(self, loss: float, held_out: float | None) -> None:
        """Add an epoch to the curve and write a checkpoint."""
        past = [epoch.held_out for epoch in self.curve if epoch.held_out is not None]
        self.curve.append(Epoch(len(self.curve) + 1, loss, held_out))
        if held_out is not None and held_out <= min(past, default=held_out):
            self.best = {name: value.detach().cpu().clone() for name, value in self.model.state_dict().items()}
        if self.writes and self.folder is not None:
            self._save(self.folder)

    def _save(self, folder: Path) -> None:
        """Replace the checkpoint; the JSON is written last, to mark the tensors as complete."""
        memory = self.optimizer.state_dict()["state"]
        groups: dict[str, Mapping[str, Tensor]] = {
            "weights": self.model.state_dict(),
            "best": self.best or {},
            "averaged": self.averaged or {},
            "optimizer": {f"{n}/{key}": value for n, each in memory.items() for key, value in each.items()},
        }
        tensors = {f"{group}/{name}": value for group, each in groups.items() for name, value in each.items()}
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / TENSORS.format(len(self.curve))
        part = path.with_name(f".{path.name}.part")
        save_file({name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}, part)
        part.replace(path)
        write_json(folder / FILE, {"settings": self.settings, "curve": [asdict(epoch) for epoch in self.curve]})
        for old in folder.glob(TENSORS.format("*")):
            if old != path:
                old.unlink()

    def restore_best(self, device: torch.device) -> None:
        """Set the model's final weights: the best epoch's, else the averaged ones, else the current ones."""
        final = self.best or self.averaged
        if final is not None:
            self.model.load_state_dict({**self.model.state_dict(), **final})
            self.model.to(device)

    def resume(self, device: torch.device) -> None:
        """Continue from the last complete epoch, if there is a checkpoint with the same settings."""
        if self.folder is None or not (self.folder / FILE).is_file():
            return
        content = read_json(self.folder / FILE)
        path = self.folder / TENSORS.format(len(content.get("curve", [])))
        if content.get("settings") != self.settings or not path.is_file():
            return
        groups: dict[str, dict[str, Tensor]] = {"weights": {}, "best": {}, "averaged": {}, "optimizer": {}}
        for key, value in load_file(path).items():
            group, name = key.split("/", 1)
            groups[group][name] = value
        self.model.load_state_dict(groups["weights"])
        self.model.to(device)
        self.best = groups["best"] or None
        self.averaged = {name: value.to(device) for name, value in groups["averaged"].items()} or None
        memory: dict[int, dict[str, Tensor]] = {}
        for name, value in groups["optimizer"].items():
            number, key = name.split("/", 1)
            memory.setdefault(int(number), {})[key] = value
        if memory:
            self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": memory})
        self.curve = [Epoch(**epoch) for epoch in content["curve"]]
