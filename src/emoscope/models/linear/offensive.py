"""How offensive a text is: a linear classifier over n-grams that predicts with numpy alone, and a trained one.

`python tools/offensive_model.py` trains the one that is shipped, on TweetEval; its terms and hashes are in its folder.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text, write_file
from emoscope.models.linear.ngram_block import spaced_tokens
from emoscope.models.linear.ngram_linear import NgramLinear

SHIPPED = Path(__file__).parent / "assets" / "offensive"
LABELS = ("not-offensive", "offensive")
_WEIGHTS = "model.npz"
_ABOUT = "about.json"
_ADDRESSED = re.compile(r"(?<!\w)@\w+|#")


class OffensiveModel:
    """The probability that a text is offensive; `threshold` is the probability from which it counts as offensive.

    >>> model = OffensiveModel(bits=10, calibration_folds=0).fit(["you idiot", "so nice"] * 5, [True, False] * 5)
    >>> bool(model(["what an idiot"])[0] > model(["what a nice day"])[0])
    True
    """

    def __init__(self, **settings: Any) -> None:
        chosen: dict[str, Any] = {"word_lengths": (1, 2, 3), "strength": 1.0, "min_rows": 2} | settings
        self.classifier = NgramLinear(field_weights=(1.0,), **chosen)
        self.threshold = 0.5
        self.about: dict[str, Any] = {}

    def fit(self, texts: Sequence[str], offensive: Sequence[bool]) -> Self:
        """Learn from texts and whether each is offensive."""
        self.classifier.fit([_row(text) for text in texts], [LABELS[bool(flag)] for flag in offensive])
        return self

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The probability that each text is offensive."""
        return np.asarray(self.classifier.predict_proba([_row(text) for text in texts])[:, 1])

    def save(self, folder: str | Path) -> None:
        """Write the weights and their description to a folder."""
        self.classifier.save(Path(folder) / _WEIGHTS)
        about = {"threshold": self.threshold, **self.about}
        write_file(Path(folder) / _ABOUT, json.dumps(about, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, folder: str | Path = SHIPPED) -> Self:
        """Read what `save` wrote, by default the shipped model.

        >>> OffensiveModel.load()(["what a lovely morning"]).round() == [0]
        array([ True])
        """
        model = cls()
        model.classifier = NgramLinear.load(Path(folder) / _WEIGHTS)
        if model.classifier.labels != LABELS:
            raise InputError(Path(folder) / _WEIGHTS, f"expected a model with the labels {', '.join(LABELS)}")
        try:
            about = json.loads(whole_text(Path(folder) / _ABOUT))
            model.threshold = float(about.pop("threshold"))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(Path(folder) / _ABOUT, "expected a JSON object with a 'threshold'") from None
        model.about = about
        return model


def _row(text: str) -> list[str]:
    """The text as nano reads a last turn (lower case, tokens between spaces), without mentions and hash signs."""
    if not isinstance(text, str):
        raise EmoscopeError(f"a text must be a string, not {type(text).__name__}")
    return [spaced_tokens(_ADDRESSED.sub(" ", text))]
