"""Logistic regression and linear SVM over features."""

from pathlib import Path

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.features.ngrams import Ngrams
from emoscope.models.linear.classifier import LinearClassifier

LABELS = ("happy", "sad", "angry")
WORDS = {"happy": "yay joy", "sad": "tears alone", "angry": "hate rage"}


def examples(count: int = 8) -> tuple[list[Example], list[str]]:
    labels = [label for label in LABELS for _ in range(count)]
    made = [Example(Dialogue.of([f"well {WORDS[label]} {n}"]), 0) for n, label in enumerate(labels)]
    return made, labels


def classifier(kind: str = "logistic", labels: tuple[str, ...] = LABELS) -> LinearClassifier:
    return LinearClassifier(labels, [Ngrams(turns=(0,), min_count=1)], kind=kind)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["logistic", "svm"])
def test_learns_saves_and_loads(kind: str, tmp_path: Path) -> None:
    data, labels = examples()
    model = classifier(kind).fit(data, labels, FitContext())
    unseen = [Example(Dialogue.of([text]), 0) for text in ("joy !", "so alone", "RAGE")]
    assert model.predict(unseen) == list(LABELS)
    answers = model.predict_proba(unseen)
    assert np.allclose(answers.sum(1), 1)
    model.save(tmp_path / "kept")
    assert np.array_equal(Block.load(tmp_path / "kept").predict_proba(unseen), answers)
    assert np.array_equal(model.predict_proba(unseen[1:2])[0], answers[1])
    assert model.predict_proba([]).shape == (0, 3)


@pytest.mark.parametrize("kind", ["logistic", "svm"])
def test_two_labels_and_a_label_never_seen(kind: str) -> None:
    features = np.array([[1.0, 0.0], [0.0, 1.0]] * 6)
    classes = np.array([0, 2] * 6)
    model = LinearClassifier(LABELS, kind=kind).fit_features(features, classes, FitContext())  # type: ignore[arg-type]
    answers = model.predict_features(features[:2])
    assert answers.argmax(1).tolist() == [0, 2]
    assert (answers[:, 1] == 0).all()


def test_a_strong_penalty_leaves_the_prior() -> None:
    # With the weights held at zero, the intercept alone is fitted: the share of each label, 3 : 1.
    features = np.array([[1.0], [1.0], [0.0], [0.0]] * 10)
    classes = np.array([0, 1, 0, 0] * 10)
    model = LinearClassifier(("a", "b"), C=1e-9).fit_features(features, classes, FitContext())
    assert np.allclose(model.predict_features(np.array([[0.0], [1.0]])), [[0.75, 0.25]] * 2, atol=0.03)


def test_balanced_weighting_takes_the_prior_out() -> None:
    features = np.array([[1.0], [1.0], [0.0], [0.0]] * 10)
    classes = np.array([0, 1, 0, 0] * 10)
    model = LinearClassifier(("a", "b"), C=1e-9, class_weight="balanced").fit_features(features, classes, FitContext())
    assert np.allclose(model.predict_features(np.array([[0.0]])), [[0.5, 0.5]], atol=1e-2)


def test_scaling_makes_the_unit_of_a_feature_irrelevant() -> None:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(60, 2))
    classes = (features[:, 0] + features[:, 1] > 0).astype(int)
    stretched = features * [1000.0, 0.001]
    plain, other = (
        LinearClassifier(("a", "b"), scale=True).fit_features(given, classes, FitContext()).predict_features(given)
        for given in (features, stretched)
    )
    assert np.allclose(plain, other, atol=1e-3)


def test_the_svm_gives_honest_probabilities_where_the_classes_overlap() -> None:
    generator = np.random.default_rng(0)
    side = generator.integers(0, 2, 600)
    features = (side * 2 - 1)[:, None] * 0.5 + generator.normal(size=(600, 1))
    model = LinearClassifier(("a", "b"), kind="svm").fit_features(features[:400], side[:400], FitContext())
    answers = model.predict_features(features[400:])
    # Two unit normals a distance of 1 apart: the best answer is right in 69 of 100 cases, and its mean is that too.
    right = float((answers.argmax(1) == side[400:]).mean())
    assert abs(right - float(answers.max(1).mean())) < 0.08


def test_mistakes_are_named() -> None:
    data, _ = examples()
    with pytest.raises(EmoscopeError, match="at least two different labels"):
        classifier().fit(data, ["sad"] * len(data), FitContext())
    with pytest.raises(EmoscopeError, match="has not been fitted"):
        LinearClassifier(LABELS).predict_features(np.zeros((1, 1)))
    with pytest.raises(EmoscopeError, match="logistic or svm"):
        classifier("perceptron")
