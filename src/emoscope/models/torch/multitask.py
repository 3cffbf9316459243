"""Multi-task learning: one encoder with a head for each of several label sets."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import whole_text, write_file
from emoscope.core.fit_context import FitContext
from emoscope.core.learnt import LearntItems
from emoscope.models.block import Block, Floats, one_hot
from emoscope.models.export.exporter import Exporter
from emoscope.models.export.kept import KeptNetwork
from emoscope.models.onnx.exported_encoder import ExportedEncoder
from emoscope.models.onnx.exported_networks import ExportedNetworks
from emoscope.models.probabilities import head_columns
from emoscope.models.torch.losses import MultiTaskLoss
from emoscope.models.torch.network import Network
from emoscope.models.torch.trained_network import TrainedNetwork
from emoscope.models.torch.training import Training

CONFIG = "headed.json"


class MultiTaskClassifier(TrainedNetwork):
    """A network whose logits are those of several `heads`, each with its own labels, side by side.

    Targets that are NaN do not train a head; `shares` weight the heads' losses. `learnt` records the items it learnt,
    if the caller of `fit` has set it.
    """

    def __init__(
        self,
        heads: Mapping[str, Sequence[str]],
        network: str = "transformer",
        settings: Mapping[str, Any] | None = None,
        training: Training | Mapping[str, Any] | None = None,
        shares: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(network, settings, training)
        self.heads = {name: tuple(labels) for name, labels in heads.items()}
        self.learnt: LearntItems | None = None
        self.shares = {name: float((shares or {}).get(name, 1.0)) for name in self.heads}

    @property
    def outputs(self) -> int:
        return sum(map(len, self.heads.values()))

    def columns(self, head: str) -> slice:
        """The columns of a head's labels."""
        return head_columns(self.heads, head)

    def keep_heads(self, heads: Sequence[str]) -> None:
        """Drop the other heads, and put these into the given order."""
        network: Any = self.fitted()
        columns = [column for head in heads for column in range(self.outputs)[self.columns(head)]]
        former = network.head[-1]
        self.heads = {head: self.heads[head] for head in heads}
        self.shares = {head: self.shares[head] for head in heads}
        network.replace_head(self.outputs)
        with torch.no_grad():
            network.head[-1].weight.copy_(former.weight[columns])
            network.head[-1].bias.copy_(former.bias[columns])

    def targets(self, labelled: Mapping[str, Sequence[Example]]) -> tuple[list[Example], Floats]:
        """The examples of all heads as one list, and their table of one-hot targets."""
        tables = [
            self.table(head, one_hot([str(example.label) for example in examples], self.heads[head]))
            for head, examples in labelled.items()
        ]
        return [example for examples in labelled.values() for example in examples], np.concatenate(tables)

    def table(self, head: str, targets: Floats) -> Floats:
        """The targets of one head as rows for all heads; those of the others are NaN."""
        table = np.full((len(targets), self.outputs), np.nan)
        table[:, self.columns(head)] = targets
        return table

    def fit(
        self, examples: Sequence[Example], targets: Floats, fit_context: FitContext, start: Network | None = None
    ) -> Self:
        """Train on a table of targets, from scratch or from `start`, a network with the same heads."""
        loss = MultiTaskLoss([len(labels) for labels in self.heads.values()], list(self.shares.values()))
        table = torch.tensor(targets, dtype=torch.float32)
        self.train_network(examples, table, loss, fit_context, start=start, heads=self._asked(table))
        return self

    def _asked(self, targets: torch.Tensor) -> list[str]:
        """The first head that each row has targets for."""
        names = list(self.heads)
        has_targets = torch.stack([~targets[:, self.columns(name).start].isnan() for name in names], 1)
        return [names[place] for place in has_targets.int().argmax(1).tolist()]

    def scores(self, examples: Sequence[Example], head: str | None = None) -> Floats:
        """The logits of all heads side by side; a network that reads a prompt is asked for `head`."""
        heads = [head or next(iter(self.heads))] * len(examples)
        return self.logits(self.fitted().encode_for(examples, heads)) if examples else np.zeros((0, self.outputs))

    def predict_proba(self, examples: Sequence[Example], head: str) -> Floats:
        """The probability of each of a head's labels."""
        logits = torch.from_numpy(self.scores(examples, head)[:, self.columns(head)])
        return np.asarray(torch.softmax(logits, -1).numpy())

    def export(self, exporter: Exporter, heads: Mapping[str, Sequence[str]]) -> Block:
        """The network as a graph with some of its heads, their labels in the given order."""
        return exporter.encoder(self.fitted(), ExportedEncoder(heads=heads), columns=self._places(heads))

    def _places(self, heads: Mapping[str, Sequence[str]]) -> list[int]:
        """The columns of labels in another order."""
        places: list[int] = []
        for name, labels in heads.items():
            own_labels = self.heads.get(name, ())
            if set(own_labels) != set(labels):
                raise EmoscopeError(f"head {name} has the labels {', '.join(own_labels)}")
            places += [self.columns(name).start + own_labels.index(label) for label in labels]
        return places

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.save_weights(folder)
        if self.learnt is not None:
            self.learnt.save(folder)
        content = {"heads": self.heads, **self.network_config(), "shares": self.shares}
        write_file(folder / CONFIG, json.dumps(content, indent=2))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        if not (folder / CONFIG).is_file():
            raise EmoscopeError(f"{folder}: holds no model with heads ({CONFIG} is missing)")
        classifier = cls(**json.loads(whole_text(folder / CONFIG)))
        classifier.load_weights(folder)
        classifier.learnt = LearntItems.load(folder)
        return classifier


def export_together(
    classifiers: Sequence[MultiTaskClassifier | KeptNetwork], exporter: Exporter, heads: Mapping[str, Sequence[str]]
) -> Block:
    """Classifiers with different heads as one block, in which word embeddings that they share are stored once.

    The first is a new one; networks of other models may follow.
    """
    if len(classifiers) == 1 and isinstance(classifiers[0], MultiTaskClassifier):
        return classifiers[0].export(exporter, heads)
    parts: dict[str, tuple[Network, Sequence[int] | None] | KeptNetwork] = {}
    networks = {}
    for number, each in enumerate(classifiers):
        name = next(iter(each.heads)) if number else ""
        networks[name] = {head: heads[head] for head in each.heads}
        parts[name] = each if isinstance(each, KeptNetwork) else (each.fitted(), each._places(networks[name]))
    return exporter.encoders(parts, ExportedNetworks(networks))
