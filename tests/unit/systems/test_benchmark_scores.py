"""Scoring a system for the tables does not change its later predictions."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.systems.settings import SystemSettings
from emoscope.tasks import get_task

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.systems.job import blind_labels, scores


class Corrected:
    """Answers `happy` when its recipe's prior correction is on, and `others` when it is off."""

    def __init__(self, **settings: str) -> None:
        self.settings = SystemSettings.of({"shift": "natural", **settings}, "corrected")
        self.metadata = SimpleNamespace(name="corrected")
        self.prior = np.full(4, 0.25)

    def predict_proba(self, examples: Sequence[Example]) -> np.ndarray:
        label = "happy" if self.settings.shift == "natural" else "others"
        labels = get_task("emocontext").labels
        return np.array([[0.7 if name == label else 0.1 for name in labels] for _ in examples])

    def predict(self, examples: Sequence[Example]) -> list[str]:
        labels = get_task("emocontext").labels
        return [labels[best] for best in self.predict_proba(examples).argmax(1)]


@pytest.mark.parametrize("settings", [{"shift": "natural"}, {}])
def test_blind_labels_are_written_with_the_correction_of_the_recipe(settings: dict[str, str]) -> None:
    task = get_task("emocontext")
    held_out = [Example(Dialogue.of(["hi", "hello", "so glad"]), turn=2, label="happy")] * 4
    system = Corrected(**settings)
    recipe = system.settings
    before = system.predict_proba(held_out)
    found = scores(task, system, held_out)  # type: ignore[arg-type]
    assert {"score", "score_uncorrected", "score_corrected"} <= set(found)
    assert system.settings == recipe
    assert (system.predict_proba(held_out) == before).all()


def test_blind_labels_are_written_with_and_without_correction() -> None:
    examples = [Example(Dialogue.of(["hi", "hello", "so glad"]), turn=2)] * 3
    found = blind_labels(get_task("emocontext"), Corrected(shift="natural"), examples)  # type: ignore[arg-type]
    assert found == {"corrected": ["happy"] * 3, "corrected.prior": ["others"] * 3}
