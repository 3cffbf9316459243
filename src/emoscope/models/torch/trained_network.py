"""A registered network with its settings, training plan, weights and training curve."""

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import whole_text, write_file
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Floats
from emoscope.models.former_names import current_names
from emoscope.models.torch.checkpoint import Epoch
from emoscope.models.torch.network import NETWORKS, Item, Network
from emoscope.models.torch.training import NetworkTrainer, Training, device_of, predict, seed_everything

WEIGHTS = "weights.safetensors"
CURVE = "curve.json"


class TrainedNetwork:
    """The base class of classifiers with one network."""

    def __init__(
        self, network: str, settings: Mapping[str, Any] | None, training: Training | Mapping[str, Any] | None
    ) -> None:
        self.network_name = network
        self.settings = current_names(settings or {})
        self.training = Training.of(training)
        self.network: Network | None = None
        self.curve: list[Epoch] = []
        self._device = "auto"

    @property
    @abstractmethod
    def outputs(self) -> int:
        """The number of logits."""

    def train_network(
        self,
        examples: Sequence[Example],
        targets: Tensor,
        loss: nn.Module,
        fit_context: FitContext,
        *,
        start: Network | None,
        heads: Sequence[str] | None = None,
        on_progress: Callable[[nn.Module, float], None] | None = None,
    ) -> None:
        """Train on rows of targets, each for one of `heads`, from scratch or from `start`."""
        seed_everything(fit_context.seed)
        self._device = fit_context.device
        network = start
        if network is None:
            network = NETWORKS[self.network_name](self.outputs, **self.settings)
            network.prepare(examples, fit_context)
        self.network = network
        items = network.encode(examples) if heads is None else network.encode_for(examples, heads)
        plan, families = self.training, [example.family for example in examples]
        self.curve = NetworkTrainer(network, items, targets, loss, plan, fit_context, families, on_progress).train()

    def fitted(self) -> Network:
        """The trained network; an error if there is none."""
        if self.network is None:
            raise EmoscopeError("this model has not been fitted")
        return self.network

    def logits(self, items: Sequence[Item]) -> Floats:
        """The logits of encoded examples."""
        return np.asarray(predict(self.fitted(), items, device_of(self._device)).double().numpy())

    def network_config(self) -> dict[str, Any]:
        """The constructor's arguments, as JSON."""
        return {"network": self.network_name, "settings": self.settings, "training": asdict(self.training)}

    def save_weights(self, folder: Path) -> None:
        """Write the network: weights as safetensors, its assets, and the training curve."""
        network = self.fitted()
        network.save_assets(folder)
        weights = {name: value.cpu().contiguous().clone() for name, value in network.state_dict().items()}
        save_file(weights, folder / WEIGHTS)
        write_file(folder / CURVE, json.dumps([asdict(epoch) for epoch in self.curve]))

    def load_weights(self, folder: Path) -> None:
        self.network = NETWORKS[self.network_name](self.outputs, **self.settings)
        self.network.load_assets(folder)
        self.network.load_state_dict(load_file(folder / WEIGHTS))
        self.network.eval()
        self.curve = [Epoch(**epoch) for epoch in json.loads(whole_text(folder / CURVE))]
