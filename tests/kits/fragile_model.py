"""`nano`, but there are words that it cannot bear. As a script: `emoscope score` with that model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import emoscope.scoring.score_tables
from emoscope.cli.main import run
from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector
from emoscope.detector.detector import Answers
from emoscope.scoring.part_scorer import ModelSpec


class FragileDetector(Detector):
    def infer(self, dialogues: Sequence[Dialogue]) -> Answers:
        texts = [" ".join(dialogue.texts) for dialogue in dialogues]
        if any("poison" in text for text in texts):
            raise ArithmeticError("cannot bear this\nat all")
        answers = super().infer([Dialogue.of([text]) for text in texts])
        answers.probabilities[["hollow" in text for text in texts]] = np.nan
        return answers


class BrokenDetector(Detector):
    def infer(self, dialogues: Sequence[Dialogue]) -> Answers:
        raise OSError("weights are gone")


@dataclass(frozen=True, slots=True)
class FragileModel(ModelSpec):
    def load(self) -> Detector:
        detector = ModelSpec.load(self)
        return FragileDetector(detector._model, labels=self.labels, prior=self.prior)


@dataclass(frozen=True, slots=True)
class BrokenModel(ModelSpec):
    def load(self) -> Detector:
        detector = ModelSpec.load(self)
        return BrokenDetector(detector._model, labels=self.labels, prior=self.prior)


if __name__ == "__main__":
    import kits.fragile_model as fragile_model  # noqa: PLW0406  under its own name, by which other processes know it

    emoscope.scoring.score_tables.ModelSpec = fragile_model.FragileModel  # type: ignore[misc]
    run()
