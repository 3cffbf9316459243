"""A network with its loss and training plan as a block."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, Prediction, Truncated, one_hot
from emoscope.models.export.exporter import Exporter
from emoscope.models.probabilities import LabelGrouping, label_probabilities
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.text.window import Window
from emoscope.models.torch.losses import ClassLoss, GroupedLoss, class_weights, grouped_targets, warmed_weights
from emoscope.models.torch.network import Network
from emoscope.models.torch.trained_network import TrainedNetwork
from emoscope.models.torch.training import Training


@dataclass(frozen=True, slots=True)
class AuxiliaryHead:
    """An extra head that predicts groups of the labels; `share` is the weight of its loss.

    >>> AuxiliaryHead((("others",), ("happy", "sad", "angry"))).grouping(("others", "happy", "sad", "angry"))
    [0, 1, 1, 1]
    """

    groups: tuple[tuple[str, ...], ...]
    share: float = 1.0

    @classmethod
    def of(cls, values: "AuxiliaryHead | Mapping[str, Any]") -> "AuxiliaryHead":
        """From a saved configuration."""
        if isinstance(values, AuxiliaryHead):
            return values
        return cls(tuple(tuple(group) for group in values["groups"]), values.get("share", 1.0))

    def grouping(self, labels: Sequence[str]) -> list[int]:
        """The group of each label; -1 for labels in none."""
        return [next((n for n, group in enumerate(self.groups) if label in group), -1) for label in labels]


class NeuralClassifier(TrainedNetwork, Block):
    """Any registered network, trained by the common loop.

    Extra `heads` predict coarser classes, such as others or an emotion; the probability of a label is then the product
    of the main head's and those of its groups, normalised.
    """

    def __init__(
        self,
        labels: Sequence[str],
        network: str,
        settings: Mapping[str, Any] | None = None,
        training: Training | Mapping[str, Any] | None = None,
        heads: Sequence[AuxiliaryHead | Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(network, settings, training)
        self.labels = tuple(labels)
        self.heads = tuple(AuxiliaryHead.of(head) for head in heads)

    @property
    def outputs(self) -> int:
        return len(self.labels) + sum(len(head.groups) for head in self.heads)

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        return self.fit_soft(examples, one_hot(labels, self.labels), fit_context)

    def fit_soft(
        self, examples: Sequence[Example], targets: Floats, fit_context: FitContext, start: Network | None = None
    ) -> Self:
        """Train on label probabilities, a new network or `start`."""
        table = torch.tensor(np.asarray(targets), dtype=torch.float32)
        balanced = class_weights(table, "balanced") if self.training.balanced_warming else None
        warming = None if balanced is None else partial(_warm, balanced)
        self.train_network(examples, table, self._loss(table), fit_context, start=start, on_progress=warming)
        return self

    def _loss(self, targets: Tensor) -> nn.Module:
        plan = self.training
        groupings = [list(range(len(self.labels))), *(head.grouping(self.labels) for head in self.heads)]
        losses = [
            ClassLoss(
                class_weights(grouped_targets(targets, grouping), plan.class_weight),
                label_smoothing=plan.label_smoothing,
                focal_gamma=plan.focal_gamma,
            )
            for grouping in groupings
        ]
        if not self.heads:
            return losses[0]
        return GroupedLoss(groupings, losses, [1.0, *(head.share for head in self.heads)])

    def infer(self, examples: Sequence[Example]) -> Prediction:
        network = self.fitted()
        if not examples:
            return Prediction(np.zeros((0, len(self.labels))))
        items = network.encode(examples)
        probabilities = label_probabilities(self.logits(items), self.questions(), len(self.labels))
        return Prediction(probabilities, np.array([item.get("truncated", False) for item in items]))

    def overlong(self, examples: Sequence[Example]) -> Truncated:
        network = self.fitted()
        window, tokenizer = getattr(network, "window", None), getattr(network, "tokenizer", None)
        if isinstance(window, Window) and isinstance(tokenizer, Tokenizer):
            return window.overlong(examples, tokenizer)
        return super().overlong(examples)

    def turns_read(self) -> int | None:
        network = self.fitted()
        turns: int | None = getattr(getattr(network, "window", network), "context", None)
        return turns

    def export(self, exporter: Exporter) -> Block:
        return self.fitted().export(exporter, self.labels, [asdict(each) for each in self.questions()])

    def questions(self) -> list[LabelGrouping]:
        """The extra heads, as `label_probabilities` needs them."""
        return [LabelGrouping(len(head.groups), head.grouping(self.labels)) for head in self.heads]

    def config(self) -> dict[str, Any]:
        return {"labels": self.labels, **self.network_config(), "heads": [asdict(head) for head in self.heads]}


def _warm(balanced: Tensor, loss: nn.Module, progress: float) -> None:
    """Move the class weights from balanced to equal during training."""
    main = next(module for module in loss.modules() if isinstance(module, ClassLoss))
    main.weights = warmed_weights(balanced, progress)
