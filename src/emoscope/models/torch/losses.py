"""Losses and class weights."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from emoscope.core.errors import EmoscopeError


class ClassLoss(nn.Module):
    """Cross-entropy of soft targets, with class weights, label smoothing and focal loss (Lin et al. 2017).

    >>> ClassLoss()(torch.tensor([[10.0, -10.0]]), torch.tensor([[1.0, 0.0]])).item() < 1e-4
    True
    """

    def __init__(
        self, weights: Tensor | None = None, *, label_smoothing: float = 0.0, focal_gamma: float = 0.0
    ) -> None:
        super().__init__()
        self.register_buffer("weights", weights)
        self.label_smoothing = label_smoothing
        self.focal_gamma = focal_gamma

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        log = functional.log_softmax(logits.float(), dim=-1)
        if self.label_smoothing:
            targets = targets * (1 - self.label_smoothing) + self.label_smoothing / targets.shape[-1]
        loss = -targets * log
        if self.focal_gamma:
            loss = loss * (1 - log.exp()) ** self.focal_gamma
        if isinstance(self.weights, Tensor):
            weights = self.weights.to(loss.device)
            return (loss * weights).sum() / (targets * weights).sum().clamp_min(1e-9)
        return loss.sum(-1).mean()


class GroupedLoss(nn.Module):
    """The weighted sum of the losses of several heads, each predicting groups of the same labels.

    `groupings` has the group of each label for every head: `[0, 1, 1, 1]` is others or an emotion. Labels in group -1
    do not count for that head.
    """

    def __init__(
        self, groupings: Sequence[Sequence[int]], losses: Sequence[ClassLoss], loss_weights: Sequence[float]
    ) -> None:
        super().__init__()
        self.groupings = [list(grouping) for grouping in groupings]
        self.losses = nn.ModuleList(losses)
        self.loss_weights = list(loss_weights)

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The heads are side by side in `logits`, in the order of the groupings."""
        total = logits.new_zeros(())
        start = 0
        for grouping, loss, weight in zip(self.groupings, self.losses, self.loss_weights, strict=True):
            size = max(grouping) + 1
            head, start = logits[:, start : start + size], start + size
            grouped = grouped_targets(targets, grouping)
            counted = grouped.sum(-1) > 0.5
            if counted.any():
                total = total + weight * loss(head[counted], grouped[counted])
        return total


class MultiTaskLoss(nn.Module):
    """The mean cross-entropy of several label sets side by side; targets that are NaN do not count.

    A row with targets for two heads counts twice.

    >>> nan = float("nan")
    >>> MultiTaskLoss([2, 2])(torch.tensor([[10.0, -10.0, 3.0, 1.0]]), torch.tensor([[1.0, 0.0, nan, nan]])) < 1e-4
    tensor(True)
    """

    def __init__(self, sizes: Sequence[int], loss_weights: Sequence[float] | None = None) -> None:
        super().__init__()
        self.sizes = list(sizes)
        self.loss_weights = list(loss_weights) if loss_weights is not None else [1.0] * len(self.sizes)

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        total = logits.new_zeros(len(logits))
        heads = zip(torch.split(logits, self.sizes, -1), torch.split(targets, self.sizes, -1), strict=True)
        for (head, wanted), weight in zip(heads, self.loss_weights, strict=True):
            # Zero targets give zero loss, so no rows need to be selected, which would make a GPU wait.
            loss = -(torch.nan_to_num(wanted) * functional.log_softmax(head.float(), -1)).sum(-1)
            total = total + weight * loss
        return total.mean()


def rdrop_divergence(one: Tensor, other: Tensor) -> Tensor:
    """The mean of both Kullback-Leibler divergences between two batches of logits (R-Drop).

    >>> rdrop_divergence(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])).item()
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


def class_weights(targets: Tensor, class_weight: str) -> Tensor | None:
    """Weights against imbalance: `none`, `balanced` (inverse frequency), or `root` (its square root).

    >>> class_weights(torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), "balanced").tolist()
    [0.6666666865348816, 2.0]
    """
    if class_weight == "none":
        return None
    counts = targets.sum(0).clamp_min(1.0)
    balanced = counts.sum() / (len(counts) * counts)
    if class_weight == "balanced":
        return balanced
    if class_weight == "root":
        return balanced.sqrt()
    raise EmoscopeError(f"class_weight: expected none, balanced or root, found {class_weight!r}")


def warmed_weights(balanced: Tensor, progress: float) -> Tensor:
    """Weighted balanced warming (team IDEA): balanced class weights at the start of training, equal ones at its end.

    >>> warmed_weights(torch.tensor([0.5, 2.0]), 1.0).tolist()
    [1.0, 1.0]
    """
    return balanced * (1 - progress) + torch.ones_like(balanced) * progress


class MeanLoss(nn.Module):
    """The loss of a network whose output is already a loss."""

    def forward(self, losses: Tensor, targets: Tensor) -> Tensor:
        """The mean loss; the targets are in the text itself."""
        del targets
        return losses.mean()
