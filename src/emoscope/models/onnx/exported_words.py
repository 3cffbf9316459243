"""Trained networks over words as blocks that need no torch."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.models.block import Floats, Truncated
from emoscope.models.onnx.description import FLOAT
from emoscope.models.onnx.exported import VECTORS, Exported
from emoscope.models.onnx.session import Run, open_graph
from emoscope.models.onnx.token_vectors import load_vectors
from emoscope.models.text.contextual_rows import KINDS, TurnRows, WordAndVectorRows
from emoscope.models.text.word_rows import Item, WordRows
from emoscope.parallel.threads import in_parallel


class ExportedWords(Exported):
    """A network over words, or over a frozen encoder's features, as a graph.

    Examples are computed one by one, so nothing is padded and none depends on others.
    """

    def __init__(
        self,
        labels: Sequence[str],
        rows: Mapping[str, Any],
        inputs: Sequence[str],
        questions: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(labels, questions)
        self._description = dict(rows)
        self._inputs = list(inputs)
        self._rows: WordRows | TurnRows
        self._run: Run

    def logits(self, examples: Sequence[Example]) -> tuple[Floats, Truncated]:
        def computed(item: Item) -> Floats:
            arrays = self._rows.arrays([item])
            return self._run({name: arrays[name] for name in self._inputs})[0]

        items = self._rows.encode(examples)
        logits = np.concatenate(in_parallel(computed, items)).astype(float)
        return logits, np.array([item["truncated"] for item in items])

    def turns_read(self) -> int:
        return self._rows.context

    def config(self) -> dict[str, Any]:
        return {**super().config(), "rows": self._description, "inputs": self._inputs}

    def open(self, folder: Path) -> None:
        rows = KINDS[self._description["rows"]].from_description(self._description)
        assert isinstance(rows, WordRows | TurnRows)
        if isinstance(rows, WordRows):
            rows.load_words(folder)
        if isinstance(rows, TurnRows | WordAndVectorRows):
            rows.frozen_features = load_vectors(folder / VECTORS)
        self._rows = rows
        self._run = open_graph(folder / FLOAT)

    def save_weights(self, folder: Path) -> None:
        super().save_weights(folder)
        if isinstance(self._rows, TurnRows | WordAndVectorRows):
            self._rows.frozen_features.save(folder / VECTORS)
