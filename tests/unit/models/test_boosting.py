"""LightGBM and XGBoost over features."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import load_block
from emoscope.models.features.classifier import FeatureClassifier
from emoscope.models.features.ngrams import Ngrams
from emoscope.models.trees.boosting import LightGbmClassifier, XgboostClassifier

LABELS = ("happy", "sad", "angry")
WORDS = ("yay joy", "tears alone", "hate rage")
Maker = Callable[..., FeatureClassifier]
both = pytest.mark.parametrize(
    "maker",
    [
        lambda *given, **options: LightGbmClassifier(*given, min_leaf=2, **options),
        XgboostClassifier,
    ],
    ids=["lightgbm", "xgboost"],
)


def examples() -> tuple[list[Example], list[str]]:
    made = [(f"well {words} {n}", label) for words, label in zip(WORDS, LABELS, strict=True) for n in range(10)]
    return [Example(Dialogue.of([text]), 0) for text, _ in made], [label for _, label in made]


def numbers(count: int = 200) -> tuple[Any, Any]:
    """Features of which the third decides, but only where the first is positive: no line can cut that."""
    features = np.random.default_rng(0).normal(size=(count, 4))
    return features, np.eye(2)[((features[:, 0] > 0) ^ (features[:, 2] > 0)).astype(int)]


@both
def test_learns_saves_and_loads(maker: Maker, tmp_path: Path) -> None:
    data, labels = examples()
    grams = Ngrams(turns=(0,), min_count=1, weighting="boolean")
    model = maker(LABELS, [grams], rounds=10).fit(data, labels, FitContext())
    unseen = [Example(Dialogue.of([text]), 0) for text in ("yay joy !", "tears alone", "such hate rage")]
    assert model.predict(unseen) == list(LABELS)
    answers = model.predict_proba(unseen)
    assert np.allclose(answers.sum(1), 1, atol=1e-6)
    model.save(tmp_path / "kept")
    assert np.array_equal(load_block(tmp_path / "kept").predict_proba(unseen), answers)
    assert np.array_equal(model.predict_proba(unseen[1:2])[0], answers[1])
    assert not list(tmp_path.rglob("*.pkl"))


@both
def test_learns_what_no_line_can_cut(maker: Maker) -> None:
    features, targets = numbers()
    model = maker(("a", "b"), rounds=40).fit_features(features[:150], targets[:150], FitContext())
    right = (model.predict_features(features[150:]).argmax(1) == targets[150:].argmax(1)).mean()
    assert right > 0.85


@both
def test_the_seed_decides(maker: Maker) -> None:
    features, targets = numbers()
    first, again, other = (
        maker(("a", "b"), rounds=5, row_share=0.5, column_share=0.5)
        .fit_features(features, targets, FitContext(seed=seed))
        .predict_features(features)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@both
def test_a_label_never_seen_is_unlikely(maker: Maker) -> None:
    features, targets = numbers()
    wider = np.concatenate([targets, np.zeros((len(targets), 1))], axis=1)
    answers = maker(LABELS, rounds=40).fit_features(features, wider, FitContext()).predict_features(features)
    assert answers[:, 2].max() < 0.05


@both
def test_progress_is_told(maker: Maker) -> None:
    told: list[tuple[str, float]] = []
    features, targets = numbers(40)
    maker(("a", "b"), rounds=2).fit_features(features, targets, FitContext(report=lambda *what: told.append(what)))
    assert told == [("round 1/2", 0.5), ("round 2/2", 1.0)]


@both
def test_mistakes_are_named(maker: Maker, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="has not been fitted"):
        maker(LABELS).predict_features(np.zeros((1, 1)))
    features, targets = numbers(40)
    with pytest.raises(EmoscopeError, match="at least two different labels"):
        maker(("a", "b")).fit_features(features, np.eye(2)[[0] * 40], FitContext())
    model = maker(("a", "b"), rounds=2).fit_features(features, targets, FitContext())
    model.save(tmp_path)
    broken = next(path for path in tmp_path.iterdir() if path.suffix in (".txt", ".ubj"))
    broken.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=f"{broken.name}.*is not an? (LightGBM|XGBoost) model"):
        load_block(tmp_path)
