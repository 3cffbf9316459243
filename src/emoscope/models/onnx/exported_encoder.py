"""A fine-tuned transformer as a block that needs no torch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.models.block import Floats, Truncated
from emoscope.models.onnx.exported import Exported
from emoscope.models.onnx.network import EncoderNetwork
from emoscope.models.probabilities import head_columns


class ExportedEncoder(Exported):
    """A transformer as graphs; with `heads`, one pass predicts all label sets."""

    def __init__(
        self,
        labels: Sequence[str] = (),
        questions: Sequence[Mapping[str, Any]] = (),
        heads: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.heads = {name: tuple(names) for name, names in (heads or {}).items()}
        super().__init__([label for names in self.heads.values() for label in names] or labels, questions)
        self._network: EncoderNetwork

    def columns(self, head: str) -> slice:
        return head_columns(self.heads, head) if self.heads else slice(None)

    def logits(self, examples: Sequence[Example]) -> tuple[Floats, Truncated]:
        return self._network.logits(examples)

    def overlong(self, examples: Sequence[Example]) -> Truncated:
        return self._network.layout.window.overlong(examples, self._network.tokenizer)

    def turns_read(self) -> int:
        return self._network.layout.window.context

    def kernels(self) -> frozenset[str]:
        return frozenset({self._network.kernel})

    def probabilities(self, logits: Floats) -> Floats:
        if not self.heads:
            return super().probabilities(logits)
        sizes = [len(labels) for labels in self.heads.values()]
        first = np.cumsum([0, *sizes[:-1]])
        raised = np.exp(logits - np.repeat(np.maximum.reduceat(logits, first, axis=1), sizes, axis=1))
        probabilities: Floats = raised / np.repeat(np.add.reduceat(raised, first, axis=1), sizes, axis=1)
        return probabilities

    def config(self) -> dict[str, Any]:
        if not self.heads:
            return super().config()
        return {"heads": {name: list(labels) for name, labels in self.heads.items()}}

    def open(self, folder: Path) -> None:
        self._network = EncoderNetwork(folder)
