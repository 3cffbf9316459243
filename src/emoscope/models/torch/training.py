"""The one training loop of all neural blocks: mixed precision, schedules, early stopping, resumable checkpoints."""

import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.checkpoint import Checkpoint
from emoscope.models.torch.losses import ClassLoss, disagreement
from emoscope.models.torch.network import Network, batches_of_like_length
from emoscope.models.torch.progress import Epoch, Progress
from emoscope.models.torch.team import Team

Schedule = Literal["constant", "linear", "slanted"]


@dataclass(frozen=True, slots=True)
class Training:
    """How to train. Everything a recipe takes from its paper, as data.

    `patience` epochs without a better held-out loss end training, and the best epoch's weights are kept; it needs
    `held_out`, the share of the training data kept for that. `unfreeze` lets one more stage learn each epoch.
    """

    epochs: int = 3
    batch: int = 32
    rate: float = 1e-3
    decay: float = 0.01
    warmup: float = 0.1
    schedule: Schedule = "linear"
    clip: float = 1.0
    weighting: str = "none"
    warming: bool = False
    smoothing: float = 0.0
    focus: float = 0.0
    held_out: float = 0.0
    patience: int = 0
    unfreeze: bool = False
    agreement: float = 0.0  # R-Drop: how much it counts that two passes with other units dropped answer alike
    average: float = 0.0  # decay of an exponential moving average of the weights; 0 keeps the last weights


def device_of(name: str) -> torch.device:
    """The device a name stands for; `auto` is the GPU if there is one.

    >>> device_of("cpu").type
    'cpu'
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise EmoscopeError("no GPU was found; use --device cpu")
    return torch.device(name)


def seed_everything(seed: int) -> None:
    """Make torch's random numbers, dropout included, follow from the seed."""
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)


def train(
    network: Network,
    items: Sequence[dict[str, Any]],
    targets: Tensor,
    loss: nn.Module,
    training: Training,
    fitting: FitContext,
    *,
    families: Sequence[Hashable] | None = None,
    on_progress: Callable[[nn.Module, float], None] | None = None,
) -> list[Epoch]:
    """Train a network in place and return its curve.

    Items of one of the `families` (the turns of a dialogue) are held out together or not at all.

    The order of batches and the dropout of an epoch follow from the seed and the epoch's number alone, so a run that
    was killed and resumed from its checkpoint ends with the same weights as one that was not.

    With several `fitting.devices` each works on its share of every batch; the batches are the same.
    """
    if fitting.devices == 1:
        return _learn(network, items, targets, loss, training, fitting, families, on_progress, Team())
    from emoscope.models.torch.launch import on_devices

    given = {"network": network, "items": items, "targets": targets, "loss": loss, "training": training}
    weights, curve = on_devices(
        _weights_and_curve, {**given, "families": families, "on_progress": on_progress}, fitting
    )
    network.load_state_dict(weights)
    network.eval()
    return curve


def _weights_and_curve(network: Network, **given: Any) -> tuple[dict[str, Tensor], list[Epoch]]:
    curve = _learn(network, **given)
    return {name: value.detach().cpu() for name, value in network.state_dict().items()}, curve


def _learn(
    network: Network,
    items: Sequence[dict[str, Any]],
    targets: Tensor,
    loss: nn.Module,
    training: Training,
    fitting: FitContext,
    families: Sequence[Hashable] | None,
    on_progress: Callable[[nn.Module, float], None] | None,
    team: Team,
) -> list[Epoch]:
    device = device_of(fitting.device)
    network.to(device)
    loss.to(device)
    learn, kept = _hold_out(families or range(len(items)), training, fitting.seed)
    steps = max(1, math.ceil(len(learn) / training.batch)) * training.epochs
    _freeze(network, training, training.epochs + len(network.stages()))  # the optimiser must know every parameter
    optimiser = torch.optim.AdamW(
        network.parameter_groups(training.rate), weight_decay=training.decay, fused=device.type == "cuda" or None
    )
    rates = [float(group["lr"]) for group in optimiser.param_groups]
    state = Progress(network, optimiser, Checkpoint(fitting.checkpoints, asdict(training)), writes=team.leads)
    state.resume(device)
    lengths = [network.length(items[position]) for position in learn]
    for epoch in range(state.epochs_done, training.epochs):
        if state.should_stop(training.patience):
            break
        # Each process drops other units; the first one those that it would drop on its own.
        seed_everything(fitting.seed * 1_000_003 + epoch + team.rank * 15_485_863)
        _freeze(network, training, epoch)
        network.train()
        # Kept on the device: reading the loss at every step would make a GPU wait for its own answer.
        total, count = torch.zeros((), dtype=torch.float64, device=device), 0
        order = torch.Generator().manual_seed(fitting.seed * 7919 + epoch)
        for number, batch in enumerate(batches_of_like_length(lengths, training.batch, order)):
            chosen = [learn[position] for position in batch]
            step = epoch * (steps // training.epochs) + number
            factor = rate_factor(step / steps, training)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            if on_progress is not None:
                on_progress(loss, step / steps)
            mine = team.share(chosen)  # nothing, where the last batch has fewer rows than there are processes
            given = _moved(network.collate([items[position] for position in mine]), device) if mine else None
            value = _loss(network, given, targets[chosen].to(device, non_blocking=True), loss, training, team)
            optimiser.zero_grad(set_to_none=True)
            if mine:
                value.backward()
            team.add_gradients(network.parameters())
            if training.clip:
                nn.utils.clip_grad_norm_(network.parameters(), training.clip)
            optimiser.step()
            state.average_weights(training.average)
            total += value.detach() * len(chosen)
            count += len(chosen)
            if device.type == "cpu" or number % 20 == 0 or step + 1 == steps:
                shown = f"epoch {epoch + 1}/{training.epochs}, loss {float(total) / count:.3f}"
                fitting.report(shown, (step + 1) / steps)
        team.average_buffers(network)
        held = _held_out_loss(network, items, targets, kept, loss, training, device, team) if kept else None
        state.finish_epoch(Epoch(epoch + 1, float(total) / max(count, 1), held))
    _freeze(network, training, training.epochs + len(network.stages()))
    state.restore_best(device)
    network.eval()
    return state.curve


def _loss(
    network: Network,
    batch: dict[str, Tensor] | None,
    targets: Tensor,
    loss: nn.Module,
    training: Training,
    team: Team,
) -> Any:
    """The loss of what the whole team answers; `batch` is this process's share of it, None if it has none."""
    answers = []
    for _ in range(2 if training.agreement else 1):
        scores = torch.zeros(0, network.outputs, device=targets.device)
        if batch is not None:
            with _precision(targets.device):
                scores = network(batch)
        answers.append(team.whole(scores.float(), len(targets)))
    if not training.agreement:
        return loss(answers[0], targets)
    if not isinstance(loss, ClassLoss):
        raise EmoscopeError("agreement: only a network with one question can learn it")
    apart = disagreement(*answers)
    return (loss(answers[0], targets) + loss(answers[1], targets)) / 2 + training.agreement * apart


def rate_factor(progress: float, training: Training) -> float:
    """What the learning rate is multiplied with at a point of training between 0 and 1.

    >>> rate_factor(0.05, Training(warmup=0.1, schedule="linear"))
    0.5
    """
    warm = training.warmup
    if training.schedule == "constant":
        return 1.0 if progress >= warm or warm == 0 else progress / warm
    rising = progress / warm if warm and progress < warm else None
    falling = 1 - (progress - warm) / max(1e-9, 1 - warm)
    if training.schedule == "linear":
        return max(rising if rising is not None else falling, 0.0)
    # Slanted triangular (Howard and Ruder 2018): short rise, long fall, never below 1/32 of the top.
    height = rising if rising is not None else falling
    return (1 + max(height, 0.0) * 31) / 32


def predict(
    network: Network, items: Sequence[dict[str, Any]], device: torch.device, batch: int | None = None
) -> Tensor:
    """The scores of items, in their order, computed in batches of like length."""
    batch = batch or (512 if device.type == "cuda" else 128)
    network.to(device)
    network.eval()
    order = sorted(range(len(items)), key=lambda position: network.length(items[position]))
    scores = torch.zeros(len(items), network.outputs)
    with torch.inference_mode():
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            with _precision(device):
                made = network(_moved(network.collate([items[position] for position in chosen]), device))
            scores[chosen] = made.float().cpu()
    return scores


def _precision(device: torch.device) -> Any:
    """bfloat16 where the device has it; full precision on a CPU, where it would be slower."""
    if device.type == "cuda":
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return nullcontext()


def _moved(batch: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    return {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}


def _hold_out(families: Sequence[Hashable], training: Training, seed: int) -> tuple[list[int], list[int]]:
    count = len(families)
    if training.held_out <= 0:
        return list(range(count)), []
    members: dict[Hashable, list[int]] = {}
    for position, family in enumerate(families):
        members.setdefault(family, []).append(position)
    groups = list(members.values())
    wanted = max(1, round(count * training.held_out))
    kept: list[int] = []
    for number in torch.randperm(len(groups), generator=torch.Generator().manual_seed(seed)).tolist():
        if len(kept) >= wanted:
            break
        kept += groups[number]
    if len(kept) >= count:
        raise EmoscopeError(f"{count} examples are too few to hold out {training.held_out:.0%}")
    return sorted(set(range(count)) - set(kept)), sorted(kept)


def _held_out_loss(
    network: Network,
    items: Sequence[dict[str, Any]],
    targets: Tensor,
    kept: Sequence[int],
    loss: nn.Module,
    training: Training,
    device: torch.device,
    team: Team,
) -> float:
    scores = predict(network, [items[position] for position in team.share(kept)], device, training.batch * 2)
    with torch.inference_mode():
        every = team.whole(scores.to(device), len(kept))
        return team.agreed(float(loss(every, targets[list(kept)].to(device))))


def _freeze(network: Network, training: Training, epoch: int) -> None:
    if not training.unfreeze:
        return
    for number, stage in enumerate(network.stages()):
        for parameter in stage:
            parameter.requires_grad_(number <= epoch)
