"""The smallest model: n-grams of the last turn and of the turns before it, in a linear classifier."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue
from emoscope.core.text import repair_mojibake
from emoscope.models.linear.ngram_linear import NgramLinear

WINDOW = 3
MAX_CHARACTERS = 2000
WEIGHTS = "model.npz"

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|\S")
_LONG_RUN = re.compile(r"([^\W\d_])\1{2,}")


class NanoModel:
    """Dialogues in, probabilities out; the dialogue's last turn is the one that is labelled.

    >>> model = NanoModel(bits=10).fit([Dialogue.of(["I won!"]), Dialogue.of(["I lost"])] * 5, ["happy", "sad"] * 5)
    >>> model.predict_proba([Dialogue.of(["we won"])]).argmax(1).tolist()
    [0]
    """

    def __init__(self, **settings: Any) -> None:
        self.classifier = NgramLinear(**settings)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the probabilities' columns."""
        return self.classifier.labels

    @property
    def prior(self) -> NDArray[np.float64]:
        """How often each label occurred in training."""
        return self.classifier.prior

    def fit(self, dialogues: Sequence[Dialogue], labels: Sequence[str]) -> Self:
        """Learn from dialogues and the label of each one's last turn."""
        self.classifier.fit([fields(dialogue) for dialogue in dialogues], labels)
        return self

    def predict_proba(self, dialogues: Sequence[Dialogue]) -> NDArray[np.float64]:
        """The probability of each label under the training prior."""
        return self.classifier.predict_proba([fields(dialogue) for dialogue in dialogues])

    @staticmethod
    def truncates(dialogue: Dialogue) -> bool:
        """Whether a part of the dialogue is not read."""
        return len(dialogue) > WINDOW or any(len(turn.text) > MAX_CHARACTERS for turn in dialogue.turns)

    def save(self, folder: str | Path) -> None:
        """Write the weights into a folder."""
        self.classifier.save(Path(folder) / WEIGHTS)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what `save` wrote."""
        model = cls()
        model.classifier = NgramLinear.load(Path(folder) / WEIGHTS)
        return model


def fields(dialogue: Dialogue) -> list[str]:
    """The last turn, the one before it and the one before that, each as tokens between spaces; missing ones empty.

    >>> fields(Dialogue.of(["Hi!!", "I'm soooo SAD"]))
    ["i'm soo sad", 'hi ! !', '']
    """
    said = [_tokens(turn.text) for turn in reversed(dialogue.turns[-WINDOW:])]
    return said + [""] * (WINDOW - len(said))


def _tokens(text: str) -> str:
    """Lower-case words and single marks. An emoji stays the character it is: as a token of its own it says more to
    n-grams than its name would, whose words ("face with tears of joy") it would share with others."""
    text = text[:MAX_CHARACTERS].lower()
    if not text.isascii():
        text = repair_mojibake(text).replace("’", "'")
    return " ".join(_TOKEN.findall(_LONG_RUN.sub(r"\1\1", text)))
