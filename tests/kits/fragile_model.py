"""`nano`, failing on certain words. As a script: `emoscope score` with that model."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np

import emoscope.scoring.score_tables
from emoscope.cli.main import run
from emoscope.core.dialogue import Dialogue
from emoscope.detector import Detector
from emoscope.detector.detector import Answers, Options


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


def load_fragile(model: str, **options: Unpack[Options]) -> Detector:
    return FragileDetector(model, **options)


def load_broken(model: str, **options: Unpack[Options]) -> Detector:
    return BrokenDetector(model, **options)


if __name__ == "__main__":
    import kits.fragile_model as fragile_model  # noqa: PLW0406  under its own name, by which other processes know it

    emoscope.scoring.score_tables.load = fragile_model.load_fragile  # type: ignore[attr-defined]
    run()
