"""The training loop: mixed precision, schedules, early stopping, averaged weights, resumable checkpoints."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.former_names import current_names
from emoscope.models.torch.checkpoint import Epoch, TrainingState
from emoscope.models.torch.data_parallel import ALONE, Replica
from emoscope.models.torch.losses import ClassLoss, rdrop_divergence
from emoscope.models.torch.network import Batch, Item, Trainable, batches_of_like_length, sorted_batches

Schedule = Literal["constant", "linear", "cosine", "slanted"]
Precision = Literal["auto", "full", "bfloat16"]
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Training:
    """How to train a network: the hyperparameters that papers report."""

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 1e-3
    """The peak learning rate."""
    weight_decay: float = 0.01
    warmup_ratio: float = 0.1
    """Share of the steps in which the learning rate rises."""
    schedule: Schedule = "linear"
    """The learning rate after warm-up; `slanted` is ULMFiT's slanted triangular schedule."""
    max_grad_norm: float = 1.0
    """Gradients are clipped to this norm; 0 turns clipping off."""
    class_weight: str = "none"
    """`balanced` (inverse frequency), `root` (its square root) or `none`."""
    balanced_warming: bool = False
    """Start with balanced class weights and end with equal ones (team IDEA)."""
    label_smoothing: float = 0.0
    focal_gamma: float = 0.0
    """Exponent of the focal loss (Lin et al. 2017); 0 is cross-entropy."""
    validation_fraction: float = 0.0
    """Share of the training data held out for early stopping."""
    patience: int = 0
    """Epochs without a lower held-out loss before training stops; the best epoch's weights are kept."""
    gradual_unfreezing: bool = False
    """Train only the top stage in the first epoch, and one more in each that follows (ULMFiT)."""
    rdrop_alpha: float = 0.0
    """R-Drop (Liang et al. 2021): weight of the divergence between two passes with different dropout."""
    ema_decay: float = 0.0
    """Decay of an exponential moving average of the weights; 0 keeps the last weights."""
    batch_tokens: int = 0
    """Tokens in a batch, padding included; 0 counts examples instead."""
    precision: Precision = "auto"
    """`bfloat16` multiplies in half precision, which is twice as fast, also on CPUs with bfloat16 instructions (AVX-512
    BF16, AMX); `auto` does so on a GPU."""

    @classmethod
    def of(cls, values: "Training | Mapping[str, Any] | None") -> "Training":
        """From a mapping, which may use former names of settings."""
        return values if isinstance(values, Training) else cls(**current_names(values or {}))


def device_of(name: str) -> torch.device:
    """The device of a name; `auto` is the GPU if there is one.

    >>> device_of("cpu").type
    'cpu'
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise EmoscopeError("no GPU was found; use --device cpu")
    try:
        return torch.device(name)
    except RuntimeError:
        raise EmoscopeError(f"--device: expected auto, cpu or cuda, found {name!r}") from None


def seed_everything(seed: int) -> None:
    """Seed torch and numpy, dropout included."""
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)


def learning_rate_factor(progress: float, training: Training) -> float:
    """The factor on the learning rate after a share of the steps, from 0 to 1.

    >>> learning_rate_factor(0.05, Training(warmup_ratio=0.1, schedule="linear"))
    0.5
    """
    warmup = training.warmup_ratio
    if progress < warmup:
        height = progress / warmup
    elif training.schedule == "constant":
        height = 1.0
    else:
        height = max(0.0, 1 - (progress - warmup) / max(1e-9, 1 - warmup))
    if training.schedule == "cosine" and progress >= warmup:
        return (1 - math.cos(math.pi * height)) / 2
    # Slanted triangular (Howard and Ruder 2018): never below 1/32 of the highest rate.
    return (1 + height * 31) / 32 if training.schedule == "slanted" else height


class StepLoss(NamedTuple):
    """The loss of one step."""

    objective: Tensor | None  # to minimise; None if this process has no rows of the batch
    loss: Tensor  # for the training curve
    rows: int


class Trainer(ABC, Generic[B]):
    """The loop over epochs and batches; subclasses define the batches and their loss.

    Batches and dropout of an epoch depend on the seed and the epoch's number alone, so a run that was interrupted and
    resumed ends with the same weights as one that was not.
    """

    model: nn.Module
    training: Training
    fit_context: FitContext
    replica: Replica = ALONE
    device: torch.device
    optimizer: torch.optim.Optimizer
    state: TrainingState

    @abstractmethod
    def make_optimizer(self) -> torch.optim.Optimizer:
        """The optimiser of all parameters."""

    def sizes(self) -> dict[str, int]:
        """Sizes that a checkpoint must match, besides the training plan."""
        return {}

    @property
    @abstractmethod
    def steps_per_epoch(self) -> int:
        """The number of batches in an epoch."""

    @abstractmethod
    def batches(self, epoch: int) -> Iterable[B]:
        """The batches of an epoch, counted from 0."""

    @abstractmethod
    def loss(self, batch: B, progress: float) -> StepLoss:
        """The loss of a batch after a share of all steps."""

    def validate(self) -> float | None:
        """The loss on held-out data, if there is any."""
        return None

    def describe(self, loss: float) -> str:
        """The mean loss of an epoch so far, for the progress line."""
        return f"loss {loss:.3f}"

    def run(self) -> list[Epoch]:
        """Train the model in place and return its curve."""
        training = self.training
        self.device = device_of(self.fit_context.device)
        self.model.to(self.device)
        self.optimizer = self.make_optimizer()
        folder, settings = self.fit_context.checkpoints, {**asdict(training), **self.sizes()}
        state = TrainingState(self.model, self.optimizer, folder, settings, self.replica.is_main)
        self.state = state
        rates = [float(group["lr"]) for group in self.optimizer.param_groups]
        steps_per_epoch = self.steps_per_epoch  # counting may draw a whole epoch's batches
        steps = steps_per_epoch * training.epochs
        state.resume(self.device)
        for epoch in range(len(state.curve), training.epochs):
            if state.should_stop(training.patience):
                break
            # Each process drops different units; the main process the same ones as without the others.
            seed_everything(self.fit_context.seed * 1_000_003 + epoch + self.replica.rank * 15_485_863)
            self.model.train()
            # On the device: reading the loss at every step would make the CPU wait for the GPU.
            total, rows = torch.zeros((), dtype=torch.float64, device=self.device), 0
            for number, batch in enumerate(self.batches(epoch)):
                step = epoch * steps_per_epoch + number
                for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
                    group["lr"] = rate * learning_rate_factor(step / steps, training)
                result = self.loss(batch, step / steps)
                self._minimise(result.objective)
                total += result.loss.detach() * result.rows
                rows += result.rows
                if self.device.type == "cpu" or number % 20 == 0 or step + 1 == steps:
                    text = f"epoch {epoch + 1}/{training.epochs}, {self.describe(float(total) / rows)}"
                    self.fit_context.progress(text, (step + 1) / steps)
            self.replica.average_buffers(self.model)
            state.finish_epoch(float(total) / max(rows, 1), self.validate())
        state.restore_best(self.device)
        self.model.eval()
        return state.curve

    def _minimise(self, objective: Tensor | None) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        if objective is not None:
            torch.autograd.backward(objective)
        self.replica.sum_gradients(self.model.parameters())
        if self.training.max_grad_norm:
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.training.max_grad_norm)
            # A large model in bfloat16 overflows occasionally; such a step is skipped.
            if self.training.batch_tokens and not bool(norm.isfinite()):
                return
        self.optimizer.step()
        self.state.average_weights(self.training.ema_decay)


@dataclass(eq=False)
class NetworkTrainer(Trainer[list[int]]):
    """Trains a network on items with targets, in batches of items of similar length.

    Items of one family (the turns of a dialogue) are held out together or not at all. `on_progress` is called with the
    loss before every step.
    """

    model: Trainable
    items: Sequence[Item]
    targets: Tensor
    criterion: nn.Module
    training: Training
    fit_context: FitContext
    families: Sequence[Hashable] | None = None
    on_progress: Callable[[nn.Module, float], None] | None = None
    replica: Replica = ALONE

    def train(self) -> list[Epoch]:
        """Train the network in place and return its curve.

        With several `devices` each works on its share of every batch; the batches are the same.
        """
        if self.fit_context.devices == 1:
            return self.run()
        from emoscope.models.torch.launch import on_devices

        sent = replace(self, fit_context=FitContext())  # each process gets its own
        weights, curve = on_devices(sent._weights_and_curve, self.fit_context)
        self.model.load_state_dict(weights)
        self.model.eval()
        return curve

    def _weights_and_curve(self, fit_context: FitContext, replica: Replica) -> tuple[dict[str, Tensor], list[Epoch]]:
        curve = replace(self, fit_context=fit_context, replica=replica).run()
        return {name: value.detach().cpu() for name, value in self.model.state_dict().items()}, curve

    def run(self) -> list[Epoch]:
        self.learn, self.held_out = _split(
            self.families or range(len(self.items)), self.training, self.fit_context.seed
        )
        self.lengths = [self.model.length(self.items[position]) for position in self.learn]
        curve = super().run()
        self._unfreeze(None)
        return curve

    def make_optimizer(self) -> torch.optim.Optimizer:
        self.criterion.to(self.device)
        self._unfreeze(None)  # the optimiser must know every parameter
        groups = self.model.parameter_groups(self.training.learning_rate)
        fused = self.device.type == "cuda" or None
        return torch.optim.AdamW(groups, weight_decay=self.training.weight_decay, fused=fused)

    @property
    def steps_per_epoch(self) -> int:
        if self.training.batch_tokens:
            return sum(1 for _ in self._positions(0))
        return max(1, math.ceil(len(self.learn) / self.training.batch_size))

    def batches(self, epoch: int) -> Iterable[list[int]]:
        self._unfreeze(epoch)
        for batch in self._positions(epoch):
            yield [self.learn[position] for position in batch]

    def _positions(self, epoch: int) -> Iterable[list[int]]:
        order = torch.Generator().manual_seed(self.fit_context.seed * 7919 + epoch)
        return batches_of_like_length(self.lengths, self.training.batch_size, order, self.training.batch_tokens)

    def loss(self, batch: list[int], progress: float) -> StepLoss:
        if self.on_progress is not None:
            self.on_progress(self.criterion, progress)
        share = self.replica.share(batch)  # empty if the last batch has fewer rows than there are processes
        inputs = _collated(self.model, [self.items[position] for position in share], self.device) if share else None
        targets = self.targets[batch].to(self.device, non_blocking=True)
        first = self._logits(inputs, len(batch))
        value = self.criterion(first, targets)
        if self.training.rdrop_alpha:
            if not isinstance(self.criterion, ClassLoss):
                raise EmoscopeError("rdrop_alpha: R-Drop needs a network with a single head")
            second = self._logits(inputs, len(batch))
            both = (value + self.criterion(second, targets)) / 2
            value = both + self.training.rdrop_alpha * rdrop_divergence(first, second)
        return StepLoss(value if share else None, value, len(batch))

    def _logits(self, inputs: Batch | None, rows: int) -> Tensor:
        logits = torch.zeros(0, self.model.outputs, device=self.device)
        if inputs is not None:
            with mixed_precision(self.device, self.training.precision):
                logits = self.model(inputs)
        return self.replica.gather(logits.float(), rows)

    def validate(self) -> float | None:
        if not self.held_out:
            return None
        items = [self.items[position] for position in self.replica.share(self.held_out)]
        logits = predict(self.model, items, self.device, self.training.batch_size * 2)
        with torch.inference_mode():
            gathered = self.replica.gather(logits.to(self.device), len(self.held_out))
            loss = self.criterion(gathered, self.targets[self.held_out].to(self.device))
            return self.replica.broadcast(float(loss))

    def _unfreeze(self, epoch: int | None) -> None:
        """Unfreeze the stages for an epoch, or all of them."""
        if self.training.gradual_unfreezing:
            for number, stage in enumerate(self.model.stages()):
                for parameter in stage:
                    parameter.requires_grad_(epoch is None or number <= epoch)


def predict(network: Trainable, items: Sequence[Item], device: torch.device, batch_size: int | None = None) -> Tensor:
    """The logits of items, in their order, computed in batches of similar length."""
    batch_size = batch_size or (512 if device.type == "cuda" else 128)
    network.to(device)
    network.eval()
    logits = torch.zeros(len(items), network.outputs)
    with torch.inference_mode():
        for batch in sorted_batches([network.length(item) for item in items], batch_size):
            with mixed_precision(device):
                result = network(_collated(network, [items[position] for position in batch], device))
            logits[batch] = result.float().cpu()
    return logits


def mixed_precision(device: torch.device, precision: Precision = "auto") -> AbstractContextManager[Any]:
    """Autocast to bfloat16 if requested or, with `auto`, on a GPU: on most CPUs it is slower."""
    enabled = precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
    return torch.autocast(device.type, dtype=torch.bfloat16) if enabled else nullcontext()


def _collated(network: Trainable, items: Sequence[Item], device: torch.device) -> Batch:
    return {name: tensor.to(device, non_blocking=True) for name, tensor in network.collate(items).items()}


def _split(families: Sequence[Hashable], training: Training, seed: int) -> tuple[list[int], list[int]]:
    """The positions to learn from and those to hold out."""
    count = len(families)
    if training.validation_fraction <= 0:
        return list(range(count)), []
    members: dict[Hashable, list[int]] = {}
    for position, family in enumerate(families):
        members.setdefault(family, []).append(position)
    groups = list(members.values())
    held_out: list[int] = []
    for number in torch.randperm(len(groups), generator=torch.Generator().manual_seed(seed)).tolist():
        if len(held_out) >= max(1, round(count * training.validation_fraction)):
            break
        held_out += groups[number]
    if len(held_out) >= count:
        raise EmoscopeError(f"{count} examples are too few to hold out {training.validation_fraction:.0%}")
    return sorted(set(range(count)) - set(held_out)), sorted(held_out)
