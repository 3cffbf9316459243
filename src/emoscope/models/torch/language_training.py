"""Training a language model on a stream of words, window by window, the state carried from each to the next."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.checkpoint import Checkpoint, named, optimiser_tensors, restore_optimiser, unnamed
from emoscope.models.torch.language_model import LanguageModel, State, discriminative_groups
from emoscope.models.torch.progress import Epoch
from emoscope.models.torch.training import Training, device_of, rate_factor, seed_everything


@dataclass(frozen=True, slots=True)
class LanguageTraining:
    """How to train. `factor` is by how much each layer learns slower than the one above it; 1 for the first training.

    `activation` and `slowness` are AWD-LSTM's penalties on large states and on sudden changes between positions.
    """

    epochs: int = 1
    batch: int = 64
    window: int = 70
    rate: float = 1e-3
    factor: float = 1.0
    warmup: float = 0.1
    clip: float = 0.25
    decay: float = 1e-4
    activation: float = 2.0
    slowness: float = 1.0


def train_language_model(
    model: LanguageModel,
    texts: Sequence[Sequence[int]],
    training: LanguageTraining,
    fitting: FitContext,
    *,
    name: str = "language model",
) -> list[Epoch]:
    """Train in place on texts of token numbers, and return the curve; its losses are the log of the perplexity.

    Each epoch draws another order of the texts. As in `training.train`, everything follows from the seed and the
    epoch's number, and a killed run goes on from its last whole epoch.
    """
    device = device_of(fitting.device)
    model.to(device)
    length = sum(map(len, texts))
    if length < 2:
        raise EmoscopeError("a language model needs text to learn from")
    optimiser = torch.optim.AdamW(
        discriminative_groups(model.stages(), training.rate, training.factor),
        betas=(0.8, 0.99),
        weight_decay=training.decay,
    )
    rates = [float(group["lr"]) for group in optimiser.param_groups]
    sizes = {"texts": len(texts), "tokens": length, "weights": sum(weights.numel() for weights in model.parameters())}
    checkpoint = Checkpoint(fitting.checkpoints, {**asdict(training), **sizes})
    curve = _resumed(checkpoint, model, optimiser, device)
    shape = Training(warmup=training.warmup, schedule="slanted")
    for epoch in range(len(curve), training.epochs):
        seed_everything(fitting.seed * 1_000_003 + epoch)
        rows = token_rows(texts, training.batch, np.random.default_rng((fitting.seed, epoch))).to(device)
        windows = max(1, math.ceil((rows.shape[1] - 1) / training.window))
        model.train()
        total = torch.zeros((), device=device)
        starts: list[State] | None = None
        for number, (seen, wanted) in enumerate(_windows(rows, training.window)):
            done = (epoch * windows + number) / (training.epochs * windows)
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * rate_factor(done, shape)
            value, penalty, starts = _loss(model, seen, wanted, starts, training)
            optimiser.zero_grad(set_to_none=True)
            torch.autograd.backward(value + penalty)
            nn.utils.clip_grad_norm_(model.parameters(), training.clip)
            optimiser.step()
            total += value.detach()
            if number % 20 == 0 or number + 1 == windows:  # to read the loss is to wait for the GPU
                perplexity = math.exp(min(float(total) / (number + 1), 20))
                fitting.report(f"{name}, epoch {epoch + 1}/{training.epochs}, perplexity {perplexity:.0f}", done)
        curve.append(Epoch(epoch + 1, float(total) / windows))
        tensors = {**named(model.state_dict(), "model"), **named(optimiser_tensors(optimiser), "optimiser")}
        checkpoint.write(epoch + 1, tensors, {"curve": [asdict(past) for past in curve]})
    model.eval()
    return curve


def perplexity(model: LanguageModel, texts: Sequence[Sequence[int]], device: str = "auto", batch: int = 16) -> float:
    """How many words a model hesitates between, on average, over texts."""
    where = device_of(device)
    model.to(where)
    model.eval()
    total, count = 0.0, 0
    starts: list[State] | None = None
    plan = LanguageTraining()
    with torch.inference_mode():
        for seen, wanted in _windows(token_rows(texts, batch, None).to(where), plan.window):
            value, _, starts = _loss(model, seen, wanted, starts, plan)
            total += float(value) * wanted.numel()
            count += wanted.numel()
    return math.exp(total / count)


def token_rows(texts: Sequence[Sequence[int]], batch: int, order: np.random.Generator | None) -> Tensor:
    """All texts as one stream, cut into `batch` rows of the same length; what is left over at the end is dropped.

    >>> token_rows([[1, 2, 3], [4, 5]], 2, None).tolist()
    [[1, 2], [3, 4]]
    """
    drawn = range(len(texts)) if order is None else order.permutation(len(texts)).tolist()
    stream = np.concatenate([np.asarray(texts[number], np.int64) for number in drawn])
    rows = max(1, min(batch, len(stream) // 2))
    width = len(stream) // rows
    return torch.from_numpy(stream[: rows * width].reshape(rows, width).copy())


def _windows(rows: Tensor, window: int) -> Iterator[tuple[Tensor, Tensor]]:
    """What is seen and what comes next, window by window."""
    for start in range(0, rows.shape[1] - 1, window):
        end = min(start + window, rows.shape[1] - 1)
        yield rows[:, start:end], rows[:, start + 1 : end + 1]


def _loss(
    model: LanguageModel, seen: Tensor, wanted: Tensor, starts: list[State] | None, training: LanguageTraining
) -> tuple[Tensor, Tensor, list[State]]:
    """The mean cross-entropy, the penalties, and the states to go on from, cut off from what led to them."""
    with torch.autocast(seen.device.type, dtype=torch.bfloat16, enabled=seen.device.type == "cuda"):
        scores, states, ends = model(seen, starts)
    value = functional.cross_entropy(scores.float().flatten(0, 1), wanted.flatten())
    penalty = training.activation * states.pow(2).mean()
    if states.shape[1] > 1:
        penalty = penalty + training.slowness * (states[:, 1:] - states[:, :-1]).pow(2).mean()
    return value, penalty, [(hidden.detach(), cell.detach()) for hidden, cell in ends]


def _resumed(
    checkpoint: Checkpoint, model: LanguageModel, optimiser: torch.optim.Optimizer, device: torch.device
) -> list[Epoch]:
    kept = checkpoint.read()
    if kept is None:
        return []
    tensors, facts = kept
    model.load_state_dict(unnamed(tensors, "model"))
    model.to(device)
    restore_optimiser(optimiser, unnamed(tensors, "optimiser"))
    return [Epoch(**past) for past in facts["curve"]]
