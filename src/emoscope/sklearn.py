"""A scikit-learn classifier for texts and dialogues, for use in pipelines, searches and cross-validation.

>>> from emoscope.sklearn import EmotionClassifier
>>> texts, labels = ["I won the prize", "so lonely now"] * 5, ["joy", "sadness"] * 5
>>> EmotionClassifier(bits=10).fit(texts, labels).predict(["we won"]).tolist()
['joy']
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emoscope.core.dialogue import Dialogue, DialogueLike, Example
from emoscope.core.extras import require
from emoscope.core.fit_context import FitContext
from emoscope.detector.bundle import Bundle, Head
from emoscope.detector.detector import Detector
from emoscope.detector.model import FittedModel
from emoscope.models.linear.ngram_block import NgramBlock

require("sklearn", extra="linear")
from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402


class EmotionClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """`nano`'s n-grams and logistic regression as an estimator; X are texts, or dialogues as lists of turns.

    The label is that of the last turn. `detector()` returns the fitted model as a detector, which can be saved and
    pickled and explains its answers.

    Parameters
    ----------
    strength : the inverse regularisation strength, which scikit-learn calls C.
    bits : the table of hashed n-grams has 2 to this power entries.
    word_lengths, char_lengths : the lengths of n-grams.
    min_rows : n-grams in fewer rows are ignored.
    calibration_folds : folds used to calibrate probabilities; 0 leaves them uncalibrated.
    random_state : the seed of the folds.
    """

    def __init__(
        self,
        *,
        strength: float = 16.0,
        bits: int = 19,
        word_lengths: Sequence[int] = (1, 2),
        char_lengths: Sequence[int] = (2, 3, 4, 5),
        min_rows: int = 2,
        calibration_folds: int = 3,
        random_state: int = 0,
    ) -> None:
        self.strength = strength
        self.bits = bits
        self.word_lengths = word_lengths
        self.char_lengths = char_lengths
        self.min_rows = min_rows
        self.calibration_folds = calibration_folds
        self.random_state = random_state

    def fit(self, X: Sequence[DialogueLike], y: ArrayLike) -> Self:  # noqa: N803
        """Learn the label of each text or dialogue."""
        examples, labels = _examples(X), np.asarray(y)
        check_classification_targets(labels)
        if len(examples) != len(labels):
            raise ValueError(f"X has {len(examples)} texts, y {len(labels)} labels")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"learning needs at least two classes, found {len(self.classes_)} class")
        names = [str(label) for label in self.classes_.tolist()]
        settings = {key: value for key, value in self.get_params().items() if key != "random_state"}
        block = NgramBlock(names, **settings)
        block.fit(examples, [names[code] for code in codes], FitContext(seed=self.random_state))
        shares = np.bincount(codes) / len(codes)
        head = Head(name="classes", labels=tuple(names), trained=dict(zip(names, shares.tolist(), strict=True)))
        bundle = Bundle(name="EmotionClassifier", task="classes", heads=(head,))
        self.detector_ = Detector(FittedModel(bundle, block))
        return self

    def predict_proba(self, X: Sequence[DialogueLike]) -> NDArray[np.float64]:  # noqa: N803
        """The class probabilities, a row for each text, in the order of `classes_`."""
        check_is_fitted(self)
        return self.detector_.predict_proba(example.dialogue for example in _examples(X))

    def predict(self, X: Sequence[DialogueLike]) -> NDArray[Any]:  # noqa: N803
        """The most likely class of each text."""
        best = self.predict_proba(X).argmax(1)
        return np.asarray(self.classes_[best])

    def detector(self) -> Detector:
        """The fitted model as a detector."""
        check_is_fitted(self)
        return self.detector_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _examples(dialogues: Any) -> list[Example]:
    if isinstance(dialogues, str | Dialogue):
        raise ValueError("expected a list of texts or dialogues, not a single one")
    if hasattr(dialogues, "columns"):  # a data frame, for example from a column transformer
        raise ValueError("expected one column of texts, not a data frame; name the column without brackets")
    return [Example.last(Dialogue.of(dialogue)) for dialogue in dialogues]
