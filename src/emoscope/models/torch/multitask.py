"""One encoder with a head for each of several label sets: it learns many tasks at once, and answers all in one pass."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write, whole_text
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, one_hot
from emoscope.models.torch.classifier import CURVE, WEIGHTS
from emoscope.models.torch.losses import HeadsLoss
from emoscope.models.torch.network import NETWORKS, Network
from emoscope.models.torch.progress import Epoch, curve_rows
from emoscope.models.torch.training import Training, device_of, predict, seed_everything, train

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter

CONFIG = "headed.json"
Targets = Mapping[str, Floats]


class HeadedClassifier:
    """A network whose outputs are the label sets of `heads`, one after the other.

    It is fitted on rows that have targets for one or more heads; a row of not-a-numbers is not asked about that head.
    """

    def __init__(
        self,
        heads: Mapping[str, Sequence[str]],
        network: str = "transformer",
        settings: Mapping[str, Any] | None = None,
        training: Training | Mapping[str, Any] | None = None,
        shares: Mapping[str, float] | None = None,
    ) -> None:
        self.heads = {name: tuple(labels) for name, labels in heads.items()}
        self.network_name = network
        self.settings = dict(settings or {})
        self.training = training if isinstance(training, Training) else Training(**(training or {}))
        self.shares = {name: float((shares or {}).get(name, 1.0)) for name in self.heads}
        self.network: Network | None = None
        self.curve: list[Epoch] = []
        self._device = "auto"

    @property
    def outputs(self) -> int:
        """The width of the network's answer."""
        return sum(len(labels) for labels in self.heads.values())

    def columns(self, head: str) -> slice:
        """Where a head's labels lie in the network's answer.

        >>> HeadedClassifier({"a": ["x", "y"], "b": ["u", "v", "w"]}).columns("b")
        slice(2, 5, None)
        """
        if head not in self.heads:
            raise EmoscopeError(f"no head {head!r}; there are: {', '.join(self.heads)}")
        start = 0
        for name, labels in self.heads.items():
            if name == head:
                return slice(start, start + len(labels))
            start += len(labels)
        raise AssertionError

    def targets(self, labelled: Mapping[str, Sequence[Example]]) -> tuple[list[Example], Floats]:
        """The examples of all heads as one list, and a table of targets: certain ones for the head of each."""
        examples: list[Example] = []
        tables = []
        for head, found in labelled.items():
            table = np.full((len(found), self.outputs), np.nan)
            table[:, self.columns(head)] = one_hot([str(example.label) for example in found], self.heads[head])
            examples += found
            tables.append(table)
        return examples, np.concatenate(tables)

    def fit(
        self, examples: Sequence[Example], targets: Floats, fitting: FitContext, start: Network | None = None
    ) -> Self:
        """Train on a table of targets as wide as `outputs`; `start` goes on from a network that has the same heads."""
        seed_everything(fitting.seed)
        self._device = fitting.device
        network = start
        if network is None:
            network = NETWORKS[self.network_name](self.outputs, **self.settings)
            network.prepare(examples, fitting)
        loss = HeadsLoss([len(labels) for labels in self.heads.values()], list(self.shares.values()))
        wanted = torch.tensor(np.asarray(targets), dtype=torch.float32)
        self.network = network
        families = [example.family for example in examples]
        self.curve = train(network, network.encode(examples), wanted, loss, self.training, fitting, families=families)
        return self

    def scores(self, examples: Sequence[Example]) -> Floats:
        """The network's own answer, all heads side by side, before any softmax."""
        if self.network is None:
            raise EmoscopeError("this model has not been fitted")
        if not examples:
            return np.zeros((0, self.outputs))
        made = predict(self.network, self.network.encode(examples), device_of(self._device))
        return np.asarray(made.double().numpy())

    def predict_proba(self, examples: Sequence[Example], head: str) -> Floats:
        """The probability of each of a head's labels."""
        made = torch.softmax(torch.from_numpy(self.scores(examples)[:, self.columns(head)]), -1)
        return np.asarray(made.numpy())

    def export(self, exporter: "Exporter", heads: Mapping[str, Sequence[str]]) -> Block:
        """The network as a graph with some of its heads, the labels of each in the order wanted."""
        from emoscope.models.onnx.exported_encoder import ExportedEncoder

        if self.network is None:
            raise EmoscopeError("this model has not been fitted")
        places: list[int] = []
        for name, labels in heads.items():
            known = self.heads.get(name, ())
            if set(known) != set(labels):
                raise EmoscopeError(f"head {name} has the labels {', '.join(known)}")
            places += [self.columns(name).start + known.index(label) for label in labels]
        return exporter.encoder(self.network, ExportedEncoder(heads=heads), columns=places)

    def save(self, folder: Path) -> None:
        """Weights as safetensors, the network's assets, the configuration and the training curve."""
        if self.network is None:
            raise EmoscopeError("this model has not been fitted")
        folder.mkdir(parents=True, exist_ok=True)
        self.network.save_assets(folder)
        weights = {name: value.cpu().contiguous().clone() for name, value in self.network.state_dict().items()}
        save_file(weights, folder / WEIGHTS)
        with atomic_write(folder / CURVE) as handle:
            json.dump(list(curve_rows(self.curve)), handle)
        with atomic_write(folder / CONFIG) as handle:
            json.dump(self.config(), handle, indent=2)

    def config(self) -> dict[str, Any]:
        """The constructor's arguments, as JSON."""
        return {
            "heads": {name: list(labels) for name, labels in self.heads.items()},
            "network": self.network_name,
            "settings": self.settings,
            "training": asdict(self.training),
            "shares": self.shares,
        }

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        if not (folder / CONFIG).is_file():
            raise EmoscopeError(f"{folder}: holds no model with heads ({CONFIG} is missing)")
        made = cls(**json.loads(whole_text(folder / CONFIG)))
        network = NETWORKS[made.network_name](made.outputs, **made.settings)
        network.load_assets(folder)
        network.load_state_dict(load_file(folder / WEIGHTS))
        network.eval()
        made.network = network
        made.curve = [Epoch(**row) for row in json.loads(whole_text(folder / CURVE))]
        return made
