"""The scikit-learn estimator."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the estimator is scikit-learn's")
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import (
    check_estimator,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)

from emoscope.sklearn import EmotionClassifier

TEXTS = ["I won the prize", "such a lovely day", "so lonely now", "I lost my keys and cry"] * 6
LABELS = ["joy", "joy", "sadness", "sadness"] * 6


def test_texts_and_dialogues() -> None:
    model = EmotionClassifier(bits=10).fit(TEXTS, LABELS)
    assert model.classes_.tolist() == ["joy", "sadness"]
    assert model.predict(["I won"]).tolist() == ["joy"]
    np.testing.assert_allclose(model.predict_proba(TEXTS).sum(1), 1)
    assert model.score(TEXTS, LABELS) == 1.0
    said = EmotionClassifier(bits=10).fit([["how was it", text] for text in TEXTS], LABELS)
    assert said.predict([["how was it", "so lonely"]]).tolist() == ["sadness"]


def test_classes_of_any_type() -> None:
    model = EmotionClassifier(bits=10).fit(TEXTS, [label == "joy" for label in LABELS])
    assert model.classes_.tolist() == [False, True]
    numbers = EmotionClassifier(bits=10).fit(TEXTS, [{"joy": 10, "sadness": 9}[label] for label in LABELS])
    assert numbers.predict(["I won the prize", "so lonely now"]).tolist() == [10, 9]


def test_pipelines_searches_and_clones() -> None:
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = Pipeline([("lower", lower), ("emotion", EmotionClassifier(bits=10))])
    search = GridSearchCV(pipeline, {"emotion__strength": [1.0, 16.0]}, cv=2).fit(TEXTS, LABELS)
    assert search.best_estimator_.predict(["I WON"]).tolist() == ["joy"]
    assert cross_val_score(EmotionClassifier(bits=10), TEXTS, LABELS, cv=2).mean() == 1.0
    assert clone(EmotionClassifier(bits=10)).get_params()["bits"] == 10


def test_fitted_estimator_is_a_detector_and_can_be_pickled() -> None:
    model = EmotionClassifier(bits=10).fit(TEXTS, LABELS)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba(TEXTS).tolist() == model.predict_proba(TEXTS).tolist()
    assert model.detector().explain("so lonely").label == "sadness"


def test_mistakes() -> None:
    with pytest.raises(NotFittedError):
        EmotionClassifier().predict(TEXTS)
    with pytest.raises(ValueError, match="not a single one"):
        EmotionClassifier().fit("text", LABELS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="24 texts, y 1 labels"):
        EmotionClassifier().fit(TEXTS, ["joy"])
    with pytest.raises(ValueError, match="1 class"):
        EmotionClassifier().fit(TEXTS, ["joy"] * 24)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_own_checks() -> None:
    """Of an estimator that takes no numbers, scikit-learn checks little itself; the rest is in the tests above."""
    results = check_estimator(EmotionClassifier(bits=10), on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] != "passed"] == []
    for check in (check_parameters_default_constructible, check_no_attributes_set_in_init, check_get_params_invariance):
        check("EmotionClassifier", EmotionClassifier())
    check_set_params("EmotionClassifier", EmotionClassifier())
