"""What training remembers between epochs: its curve, the best and the averaged weights; kept where a kill spares it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from emoscope.models.torch.checkpoint import Checkpoint, named, optimiser_tensors, restore_optimiser, unnamed


@dataclass(frozen=True, slots=True)
class Epoch:
    """One line of the training curve."""

    epoch: int
    loss: float
    held_out: float | None = None


def curve_rows(curve: Sequence[Epoch]) -> Iterator[dict[str, Any]]:
    """A curve as plain rows, for JSON and plots."""
    for epoch in curve:
        yield asdict(epoch)


class Progress:
    """The state of a training at the end of its last whole epoch.

    Of several processes that train together all read a checkpoint; only the one that `writes` keeps one.
    """

    def __init__(
        self, network: nn.Module, optimiser: torch.optim.Optimizer, checkpoint: Checkpoint, *, writes: bool = True
    ) -> None:
        self.network = network
        self.optimiser = optimiser
        self.checkpoint = checkpoint
        self.writes = writes
        self.curve: list[Epoch] = []
        self.best: dict[str, Tensor] | None = None
        self.averaged: dict[str, Tensor] | None = None

    @property
    def epochs_done(self) -> int:
        """How many epochs were finished."""
        return len(self.curve)

    def should_stop(self, patience: int) -> bool:
        """Whether the held-out loss has not become better for `patience` epochs; 0 goes on to the end."""
        held = [epoch.held_out for epoch in self.curve if epoch.held_out is not None]
        return bool(patience and held and len(held) - 1 - held.index(min(held)) >= patience)

    def average_weights(self, decay: float) -> None:
        """Move the averaged weights towards the present ones; a decay of 0 keeps none."""
        if not decay:
            return
        with torch.no_grad():
            now = {name: value for name, value in self.network.state_dict().items() if value.is_floating_point()}
            if self.averaged is None:
                self.averaged = {name: value.detach().clone() for name, value in now.items()}
            for name, value in now.items():
                self.averaged[name].lerp_(value, 1 - decay)

    def finish_epoch(self, epoch: Epoch) -> None:
        """Add an epoch to the curve, and keep its weights."""
        self.curve.append(epoch)
        held = [past.held_out for past in self.curve if past.held_out is not None]
        if epoch.held_out is not None and epoch.held_out <= min(held):
            self.best = {name: value.detach().cpu().clone() for name, value in self.network.state_dict().items()}
        if self.writes:
            tensors = {
                **named(self.network.state_dict(), "weights"),
                **named(self.best or {}, "best"),
                **named(self.averaged or {}, "averaged"),
                **named(optimiser_tensors(self.optimiser), "optimiser"),
            }
            self.checkpoint.write(self.epochs_done, tensors, {"curve": list(curve_rows(self.curve))})

    def restore_best(self, device: torch.device) -> None:
        """Give the network the weights it is to end with."""
        chosen = self.best or self.averaged
        if chosen is not None:
            self.network.load_state_dict({**self.network.state_dict(), **chosen})
            self.network.to(device)

    def resume(self, device: torch.device) -> None:
        """Go on from the last whole epoch, if there is one of the same settings."""
        kept = self.checkpoint.read()
        if kept is None:
            return
        tensors, facts = kept
        self.network.load_state_dict(unnamed(tensors, "weights"))
        self.network.to(device)
        self.best = unnamed(tensors, "best") or None
        self.averaged = {name: value.to(device) for name, value in unnamed(tensors, "averaged").items()} or None
        restore_optimiser(self.optimiser, unnamed(tensors, "optimiser"))
        self.curve = [Epoch(**epoch) for epoch in facts["curve"]]
