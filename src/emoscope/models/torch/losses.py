"""Losses, each a small module of its own; named in a `Training`, so that a recipe stays data."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from emoscope.core.errors import EmoscopeError


class ClassLoss(nn.Module):
    """Cross-entropy of soft or hard targets, with class weights, label smoothing and a focus on hard examples.

    `focus` is the exponent of focal loss (Lin et al. 2017); 0 leaves plain cross-entropy.

    >>> ClassLoss()(torch.tensor([[10.0, -10.0]]), torch.tensor([[1.0, 0.0]])).item() < 1e-4
    True
    """

    def __init__(self, weights: Tensor | None = None, *, smoothing: float = 0.0, focus: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("weights", weights)
        self.smoothing = smoothing
        self.focus = focus

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        """The mean loss of a batch; targets are rows of probabilities."""
        log = functional.log_softmax(scores.float(), dim=-1)
        if self.smoothing:
            targets = targets * (1 - self.smoothing) + self.smoothing / targets.shape[-1]
        loss = -targets * log
        if self.focus:
            loss = loss * (1 - log.exp()) ** self.focus
        if isinstance(self.weights, Tensor):
            weights = self.weights.to(loss.device)
            return (loss * weights).sum() / (targets * weights).sum().clamp_min(1e-9)
        return loss.sum(-1).mean()


class MultiTaskLoss(nn.Module):
    """Several questions of one set of labels, each a head of the network: the sum of their losses.

    `groupings` gives, per head, the head's class of each label: `[0, 1, 1, 1]` asks "others or an emotion?".
    A label that a head does not ask about has class -1 there and does not count.
    """

    def __init__(
        self, groupings: Sequence[Sequence[int]], losses: Sequence[ClassLoss], shares: Sequence[float]
    ) -> None:
        super().__init__()
        self.groupings = [list(grouping) for grouping in groupings]
        self.losses = nn.ModuleList(losses)
        self.shares = list(shares)

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        """The heads lie side by side in `scores`, in the order of the groupings."""
        total = scores.new_zeros(())
        start = 0
        for grouping, loss, share in zip(self.groupings, self.losses, self.shares, strict=True):
            size = max(grouping) + 1
            head, start = scores[:, start : start + size], start + size
            grouped = grouped_targets(targets, grouping)
            asked = grouped.sum(-1) > 0.5
            if asked.any():
                total = total + share * loss(head[asked], grouped[asked])
        return total


class HeadsLoss(nn.Module):
    """Several label sets side by side: each row is asked only about those it has targets for, the rest are not numbers.

    `shares` say how much each head counts. The mean is over rows, so a row with targets for two heads counts twice.

    >>> unasked = float("nan")
    >>> HeadsLoss([2, 2])(torch.tensor([[10.0, -10.0, 3.0, 1.0]]), torch.tensor([[1.0, 0.0, unasked, unasked]])) < 1e-4
    tensor(True)
    """

    def __init__(self, sizes: Sequence[int], shares: Sequence[float] | None = None) -> None:
        super().__init__()
        self.sizes = list(sizes)
        self.shares = list(shares) if shares is not None else [1.0] * len(self.sizes)

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        """The mean over rows of the heads' cross-entropies."""
        total = scores.new_zeros(len(scores))
        heads = zip(torch.split(scores, self.sizes, -1), torch.split(targets, self.sizes, -1), self.shares, strict=True)
        for answers, wanted, share in heads:
            # Zero targets for a head that is not asked give zero loss: no row need be picked out, which would make a
            # GPU wait.
            loss = -(torch.nan_to_num(wanted) * functional.log_softmax(answers.float(), -1)).sum(-1)
            total = total + share * loss
        return total.mean()


def disagreement(one: Tensor, other: Tensor) -> Tensor:
    """How far two rows of scores differ as probabilities: the mean of both Kullback-Leibler divergences (R-Drop).

    >>> disagreement(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])).item()
    0.0
    """
    logs = functional.log_softmax(one.float(), -1), functional.log_softmax(other.float(), -1)
    difference = (logs[0].exp() - logs[1].exp()) * (logs[0] - logs[1])
    return difference.sum(-1).mean() / 2


def grouped_targets(targets: Tensor, grouping: Sequence[int]) -> Tensor:
    """Probabilities of groups of labels.

    >>> grouped_targets(torch.tensor([[0.2, 0.3, 0.5]]), [0, 1, 1])
    tensor([[0.2000, 0.8000]])
    """
    grouped = targets.new_zeros(len(targets), max(grouping) + 1)
    for label, group in enumerate(grouping):
        if group >= 0:
            grouped[:, group] += targets[:, label]
    return grouped


def class_weights(targets: Tensor, how: str) -> Tensor | None:
    """Weights against imbalance: `none`, `balanced` (inverse frequency), or `root` (its square root).

    >>> class_weights(torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), "balanced").tolist()
    [0.6666666865348816, 2.0]
    """
    if how == "none":
        return None
    counts = targets.sum(0).clamp_min(1.0)
    balanced = counts.sum() / (len(counts) * counts)
    if how == "balanced":
        return balanced
    if how == "root":
        return balanced.sqrt()
    raise EmoscopeError(f"unknown class weighting {how!r}; expected none, balanced or root")


def warmed_weights(balanced: Tensor, progress: float) -> Tensor:
    """Weighted balanced warming (team IDEA): begin fully balanced and move to the natural weights as training goes on.

    >>> warmed_weights(torch.tensor([0.5, 2.0]), 1.0).tolist()
    [1.0, 1.0]
    """
    return balanced * (1 - progress) + torch.ones_like(balanced) * progress
