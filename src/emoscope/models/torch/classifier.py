"""A network, a loss and a training plan as one block."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, Prediction, one_hot
from emoscope.models.probabilities import LabelGrouping, label_probabilities
from emoscope.models.torch.losses import ClassLoss, MultiTaskLoss, class_weights, grouped_targets, warmed_weights
from emoscope.models.torch.network import NETWORKS, Network
from emoscope.models.torch.progress import Epoch, curve_rows
from emoscope.models.torch.training import Training, device_of, predict, seed_everything, train

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter

WEIGHTS = "weights.safetensors"
CURVE = "curve.json"


@dataclass(frozen=True, slots=True)
class Head:
    """One question asked of the labels: the labels' groups, and how much its loss counts.

    >>> Head((("others",), ("happy", "sad", "angry"))).grouping(("others", "happy", "sad", "angry"))
    [0, 1, 1, 1]
    """

    groups: tuple[tuple[str, ...], ...]
    share: float = 1.0

    def grouping(self, labels: Sequence[str]) -> list[int]:
        """The group of each label; -1 for labels this head does not ask about."""
        return [next((n for n, group in enumerate(self.groups) if label in group), -1) for label in labels]


class NeuralClassifier(Block):
    """Any registered network, trained by the one loop.

    With extra `heads` the network also answers coarser questions (others or an emotion?); the answers are the main
    head's, multiplied with the probability each extra head gives to the label's group, and scaled to sum to 1.
    """

    def __init__(
        self,
        labels: Sequence[str],
        network: str,
        settings: Mapping[str, Any] | None = None,
        training: Training | Mapping[str, Any] | None = None,
        heads: Sequence[Head | Mapping[str, Any]] = (),
    ) -> None:
        self.labels = tuple(labels)
        self.network_name = network
        self.settings = dict(settings or {})
        self.training = training if isinstance(training, Training) else Training(**(training or {}))
        self.heads = tuple(head if isinstance(head, Head) else _head(head) for head in heads)
        self.network: Network | None = None
        self.curve: list[Epoch] = []
        self._device = "auto"

    @property
    def outputs(self) -> int:
        """The width of the network's answer."""
        return len(self.labels) + sum(len(head.groups) for head in self.heads)

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        """Train a new network."""
        return self.fit_soft(examples, one_hot(labels, self.labels), fitting)

    def fit_soft(
        self, examples: Sequence[Example], targets: Floats, fitting: FitContext, start: Network | None = None
    ) -> Self:
        """Train on probabilities of labels; `start` goes on from a network that has learnt something else before."""
        seed_everything(fitting.seed)
        self._device = fitting.device
        if start is None:
            network = NETWORKS[self.network_name](self.outputs, **self.settings)
            network.prepare(examples, fitting)
        else:
            network = start
        wanted = torch.tensor(np.asarray(targets), dtype=torch.float32)
        items = network.encode(examples)
        self.network = network
        self.curve = train(
            network,
            items,
            wanted,
            self._loss(wanted),
            self.training,
            fitting,
            families=[example.family for example in examples],
            on_progress=self._warm(wanted),
        )
        return self

    def _loss(self, targets: Tensor) -> nn.Module:
        plan = self.training
        groupings = [list(range(len(self.labels))), *(head.grouping(self.labels) for head in self.heads)]
        losses = [
            ClassLoss(
                class_weights(grouped_targets(targets, grouping), plan.weighting),
                smoothing=plan.smoothing,
                focus=plan.focus,
            )
            for grouping in groupings
        ]
        if not self.heads:
            return losses[0]
        return MultiTaskLoss(groupings, losses, [1.0, *(head.share for head in self.heads)])

    def _warm(self, targets: Tensor) -> "_Warming | None":
        balanced = class_weights(targets, "balanced")
        return _Warming(balanced) if self.training.warming and balanced is not None else None

    def infer(self, examples: Sequence[Example]) -> Prediction:
        network = self._fitted()
        if not examples:
            return Prediction(np.zeros((0, len(self.labels))))
        items = network.encode(examples)
        scores = predict(network, items, device_of(self._device))
        probabilities = label_probabilities(scores.double().numpy(), self.questions(), len(self.labels))
        return Prediction(probabilities, np.array([item.get("truncated", False) for item in items]))

    def export(self, exporter: "Exporter") -> Block:
        """The network as a graph."""
        questions = [{"groups": each.groups, "grouping": list(each.grouping)} for each in self.questions()]
        return self._fitted().export(exporter, self.labels, questions)

    def _fitted(self) -> Network:
        if self.network is None:
            raise EmoscopeError("this model has not been fitted")
        return self.network

    def questions(self) -> list[LabelGrouping]:
        """The extra heads, as the answers need them."""
        return [LabelGrouping(len(head.groups), tuple(head.grouping(self.labels))) for head in self.heads]

    def config(self) -> dict[str, Any]:
        """The constructor's arguments, as JSON."""
        return {
            "labels": list(self.labels),
            "network": self.network_name,
            "settings": self.settings,
            "training": asdict(self.training),
            "heads": [asdict(head) for head in self.heads],
        }

    def save_weights(self, folder: Path) -> None:
        """Weights as safetensors, the network's assets and the training curve beside them."""
        network = self._fitted()
        network.save_assets(folder)
        weights = {name: value.cpu().contiguous().clone() for name, value in network.state_dict().items()}
        save_file(weights, folder / WEIGHTS)
        with atomic_write(folder / CURVE) as handle:
            json.dump(list(curve_rows(self.curve)), handle)

    def load_weights(self, folder: Path) -> None:
        """Read what `save_weights` wrote."""
        network = NETWORKS[self.network_name](self.outputs, **self.settings)
        network.load_assets(folder)
        network.load_state_dict(load_file(folder / WEIGHTS))
        network.eval()
        self.network = network
        self.curve = [Epoch(**row) for row in json.loads((folder / CURVE).read_text(encoding="utf-8"))]

    def with_training(self, **changes: Any) -> "NeuralClassifier":
        """The same block, unfitted, with another training plan."""
        return NeuralClassifier(
            self.labels, self.network_name, self.settings, replace(self.training, **changes), self.heads
        )


@dataclass(frozen=True, slots=True)
class _Warming:
    """Weighted balanced warming: changes the class weights as training goes on."""

    balanced: Tensor

    def __call__(self, loss: nn.Module, progress: float) -> None:
        main = loss if isinstance(loss, ClassLoss) else next(m for m in loss.modules() if isinstance(m, ClassLoss))
        main.weights = warmed_weights(self.balanced, progress)


def _head(values: Mapping[str, Any]) -> Head:
    return Head(tuple(tuple(group) for group in values["groups"]), values.get("share", 1.0))
