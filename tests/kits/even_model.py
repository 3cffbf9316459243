"""A model with two heads that answers evenly."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.detector.bundle import Bundle, Head


class Even:
    """A model without any knowledge: every label as likely as it was in training."""

    def __init__(self, labels: tuple[str, ...], prior: dict[str, float]) -> None:
        self.labels = labels
        self.prior: NDArray[np.float64] = np.array([prior[label] for label in labels])

    def predict_proba(self, dialogues: list[Dialogue]) -> NDArray[np.float64]:
        return np.tile(self.prior, (len(dialogues), 1))

    def truncates(self, dialogue: Dialogue) -> bool:
        return False


def load_even(folder: Path, bundle: Bundle, head: Head) -> Even:
    assert head.trained is not None
    return Even(head.labels, head.trained)


MOOD = Head(
    name="mood",
    labels=("calm", "glad", "cross"),
    trained={"calm": 0.5, "glad": 0.3, "cross": 0.2},
    prior={"calm": 0.6, "glad": 0.25, "cross": 0.15},
    decision={"calm": 1.0, "glad": 2.0, "cross": 4.5},
)


TONE = Head(name="tone", labels=("up", "down"), trained={"up": 0.7, "down": 0.3})
