"""What another package adds to emoscope: a task, a system, and a block that is exported its own way.

Nothing in emoscope knows of it but by entry points: see `ENTRY_POINTS`.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Prediction
from emoscope.models.export.exporter import Exporter
from emoscope.systems.base import System, SystemMetadata
from emoscope.tasks.iest import Iest
from emoscope.tasks.metadata import DataFile, DataRevision

ENTRY_POINTS = """
[emoscope.tasks]
toy-weather = kits.toy_emotions:Weather

[emoscope.systems]
toy-keywords = kits.toy_emotions:KeywordSystem

[emoscope.blocks]
toy-keywords = kits.toy_emotions:Keywords
toy-exported-keywords = kits.toy_emotions:ExportedKeywords
"""


class Weather(Iest):
    """Two moods of tweets about the weather."""

    metadata = Iest.metadata.model_copy(
        update={
            "name": "toy-weather",
            "labels": ("sunny", "rainy"),
            "folder": "toy-weather",
            "revisions": (
                DataRevision(
                    name="toy",
                    note="written by the test",
                    splits={"train": DataFile(name="train.csv"), "dev": DataFile(name="dev.csv")},
                ),
            ),
        }
    )


class ExportedKeywords(Block):
    """Words that speak for a label, as a table."""

    def __init__(self, labels: Sequence[str], words: dict[str, list[int]] | None = None) -> None:
        self.labels = tuple(labels)
        self.words = words or {}

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        raise EmoscopeError("an exported model cannot be trained")

    def infer(self, examples: Sequence[Example]) -> Prediction:
        counts = np.ones((len(examples), len(self.labels)))
        for row, example in enumerate(examples):
            for word in example.text.split():
                counts[row] += self.words.get(word, 0)
        return Prediction(counts / counts.sum(1, keepdims=True), np.array([example.turn > 0 for example in examples]))

    def config(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "words": self.words}


class Keywords(ExportedKeywords):
    """The same, as it is trained: the counts lie in a file of their own."""

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        pairs = zip(examples, labels, strict=True)
        counts = Counter((word, label) for example, label in pairs for word in example.text.split())
        words = {word for word, _ in counts}
        self.words = {word: [counts[word, label] for label in self.labels] for word in sorted(words)}
        return self

    def config(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}

    def save_weights(self, folder: Path) -> None:
        (folder / "counts.json").write_text(json.dumps(self.words), encoding="utf-8")

    def load_weights(self, folder: Path) -> None:
        self.words = json.loads((folder / "counts.json").read_text(encoding="utf-8"))

    def export(self, exporter: Exporter) -> Block:
        del exporter
        return ExportedKeywords(self.labels, self.words)


class KeywordSystem(System):
    """Two blocks of keywords that vote."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="toy-keywords", summary="counts of words", tasks=("toy-weather",), team="elsewhere", networks=False
    )

    def build(self) -> Block:
        from emoscope.models.ensembles.combine import Mean

        return Mean([Keywords(self.task.labels), Keywords(self.task.labels)])
