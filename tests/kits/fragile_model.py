"""`nano`, but there are words that it cannot bear. As a script: `emoscope score` with that model."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import emoscope.scoring.score_tables
from emoscope.cli.main import run
from emoscope.core.dialogue import Dialogue, DialogueLike
from emoscope.detector import Detector
from emoscope.scoring.part_scorer import ModelSpec


class FragileDetector(Detector):
    def predict_proba(self, dialogues: Iterable[DialogueLike]) -> NDArray[np.float64]:
        texts = [" ".join(Dialogue.of(dialogue).texts) for dialogue in dialogues]
        if any("poison" in text for text in texts):
            raise ArithmeticError("cannot bear this\nat all")
        answers = super().predict_proba([[text] for text in texts])
        answers[["hollow" in text for text in texts]] = np.nan
        return answers


class BrokenDetector(Detector):
    def predict_proba(self, dialogues: Iterable[DialogueLike]) -> NDArray[np.float64]:
        raise OSError("weights are gone")


@dataclass(frozen=True, slots=True)
class FragileModel(ModelSpec):
    def load(self) -> Detector:
        detector = ModelSpec.load(self)
        detector.__class__ = FragileDetector
        return detector


@dataclass(frozen=True, slots=True)
class BrokenModel(ModelSpec):
    def load(self) -> Detector:
        detector = ModelSpec.load(self)
        detector.__class__ = BrokenDetector
        return detector


if __name__ == "__main__":
    import kits.fragile_model as fragile_model  # noqa: PLW0406  under its own name, by which other processes know it

    emoscope.scoring.score_tables.ModelSpec = fragile_model.FragileModel  # type: ignore[misc]
    run()
