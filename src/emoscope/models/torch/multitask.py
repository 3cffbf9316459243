"""One encoder with a head for each of several label sets: it learns many tasks at once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write, whole_text
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, one_hot
from emoscope.models.former_names import current_names
from emoscope.models.torch.checkpoint import Epoch
from emoscope.models.torch.losses import MultiTaskLoss
from emoscope.models.torch.network import NETWORKS, Network, load_network, save_network
from emoscope.models.torch.training import Training, device_of, predict, seed_everything, train

if TYPE_CHECKING:
    from emoscope.models.export.exporter import Exporter

CONFIG = "headed.json"


class MultiTaskClassifier:
    """A network whose logits are those of several `heads`, each with its own labels, side by side.

    A row of targets that are not numbers teaches that head nothing; `shares` weight the heads' losses.
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
        self.settings = current_names(settings or {})
        self.training = Training.of(training)
        self.shares = {name: float((shares or {}).get(name, 1.0)) for name in self.heads}
        self.network: Network | None = None
        self.curve: list[Epoch] = []
        self._device = "auto"

    @property
    def outputs(self) -> int:
        """How many logits the network has."""
        return sum(map(len, self.heads.values()))

    def columns(self, head: str) -> slice:
        """Where a head's labels lie among the logits.

        >>> MultiTaskClassifier({"a": ["x", "y"], "b": ["u", "v", "w"]}).columns("b")
        slice(2, 5, None)
        """
        if head not in self.heads:
            raise EmoscopeError(f"no head {head!r}; there are: {', '.join(self.heads)}")
        names = list(self.heads)
        start = sum(len(self.heads[name]) for name in names[: names.index(head)])
        return slice(start, start + len(self.heads[head]))

    def targets(self, labelled: Mapping[str, Sequence[Example]]) -> tuple[list[Example], Floats]:
        """The examples of all heads as one list, and their table of one-hot targets."""
        tables = []
        for head, examples in labelled.items():
            table = np.full((len(examples), self.outputs), np.nan)
            table[:, self.columns(head)] = one_hot([str(example.label) for example in examples], self.heads[head])
            tables.append(table)
        return [example for examples in labelled.values() for example in examples], np.concatenate(tables)

    def fit(
        self, examples: Sequence[Example], targets: Floats, fit_context: FitContext, start: Network | None = None
    ) -> Self:
        """Train on a table of targets; from `start`, if given, a network with the same heads."""
        seed_everything(fit_context.seed)
        self._device = fit_context.device
        network = start
        if network is None:
            network = NETWORKS[self.network_name](self.outputs, **self.settings)
            network.prepare(examples, fit_context)
        loss = MultiTaskLoss([len(labels) for labels in self.heads.values()], list(self.shares.values()))
        table = torch.tensor(np.asarray(targets), dtype=torch.float32)
        families = [example.family for example in examples]
        self.network = network
        items = network.encode_for(examples, self._asked(table))
        self.curve = train(network, items, table, loss, self.training, fit_context, families=families)
        return self

    def _asked(self, targets: torch.Tensor) -> list[str]:
        """The first head that each row has targets for."""
        names = list(self.heads)
        asked = torch.stack([~targets[:, self.columns(name).start].isnan() for name in names], 1)
        return [names[place] for place in asked.int().argmax(1).tolist()]

    def scores(self, examples: Sequence[Example], head: str | None = None) -> Floats:
        """The logits of all heads side by side; a network that reads a question is asked for `head`."""
        if self.network is None:
            raise EmoscopeError("this model has not been fitted")
        if not examples:
            return np.zeros((0, self.outputs))
        items = self.network.encode_for(examples, [head or next(iter(self.heads))] * len(examples))
        logits = predict(self.network, items, device_of(self._device))
        return np.asarray(logits.double().numpy())

    def predict_proba(self, examples: Sequence[Example], head: str) -> Floats:
        """The probability of each of a head's labels."""
        logits = torch.from_numpy(self.scores(examples, head)[:, self.columns(head)])
        return np.asarray(torch.softmax(logits, -1).numpy())

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
        """Write the network, the configuration and the training curve."""
        folder.mkdir(parents=True, exist_ok=True)
        save_network(folder, self.network, self.curve)
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
        classifier = cls(**json.loads(whole_text(folder / CONFIG)))
        classifier.network, classifier.curve = load_network(
            folder, classifier.network_name, classifier.outputs, classifier.settings
        )
        return classifier
