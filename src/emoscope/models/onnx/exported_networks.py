"""Several transformers in one folder, each with its own heads."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.models.block import Block, Prediction, Truncated, read_by_none
from emoscope.models.onnx.exported import FromFolder
from emoscope.models.onnx.exported_encoder import ExportedEncoder
from emoscope.models.probabilities import head_columns


class ExportedNetworks(FromFolder, Block):
    """Networks by name, each with its heads; they share a tokenizer and, if these are equal, their word embeddings.

    So one model can have a network for everyday messages and one for the shared tasks, neither of which pays for what
    the other learns. A network is loaded when one of its heads is first used.
    """

    def __init__(self, networks: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        self.networks = {name: {head: tuple(labels) for head, labels in own.items()} for name, own in networks.items()}
        self.heads = {head: labels for own in self.networks.values() for head, labels in own.items()}
        self.labels = tuple(label for labels in self.heads.values() for label in labels)
        self._encoders: dict[str, ExportedEncoder] = {}
        self._lock = Lock()

    def open(self, folder: Path) -> None:
        del folder
        self._encoders = {}

    def of_head(self, head: str) -> ExportedEncoder:
        for name, heads in self.networks.items():
            if head in heads:
                return self._encoder(name)
        raise EmoscopeError(f"no head {head!r}; there are: {', '.join(self.heads)}")

    def _encoder(self, name: str) -> ExportedEncoder:
        with self._lock:
            if name not in self._encoders:
                encoder = ExportedEncoder(heads=self.networks[name], network=name)
                assert self._folder is not None
                encoder.load_weights(self._folder)
                self._encoders[name] = encoder
            return self._encoders[name]

    def infer(self, examples: Sequence[Example]) -> Prediction:
        predictions = [self._encoder(name).infer(examples) for name in self.networks]
        probabilities = np.concatenate([each.probabilities for each in predictions], axis=1)
        return Prediction(probabilities, read_by_none(predictions))

    def columns(self, head: str) -> slice:
        return head_columns(self.heads, head)

    def overlong(self, examples: Sequence[Example]) -> Truncated:
        return self._encoder(next(iter(self.networks))).overlong(examples)

    def turns_read(self) -> int:
        return max(self._encoder(name).turns_read() for name in self.networks)

    def kernels(self) -> frozenset[str]:
        return frozenset[str]().union(*(self._encoder(name).kernels() for name in self.networks))

    def config(self) -> dict[str, Any]:
        return {"networks": self.networks}
