"""LightGBM and XGBoost over features."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.features.classifier import FeatureClassifier
from emoscope.models.features.ngrams import Ngrams
from emoscope.models.trees.boosting import LightGBM, XGBoost

LABELS = ("happy", "sad", "angry")
WORDS = ("yay joy", "tears alone", "hate rage")
Maker = Callable[..., FeatureClassifier]


def lightgbm(*given: Any, **options: Any) -> LightGBM:
    return LightGBM(*given, min_data_in_leaf=2, **options)


both = pytest.mark.parametrize("maker", [lightgbm, XGBoost], ids=["lightgbm", "xgboost"])


def examples() -> tuple[list[Example], list[str]]:
    made = [(f"well {words} {n}", label) for words, label in zip(WORDS, LABELS, strict=True) for n in range(10)]
    return [Example(Dialogue.of([text]), 0) for text, _ in made], [label for _, label in made]


def numbers(count: int = 200) -> tuple[Any, Any]:
    """Features of which the third decides, but only where the first is positive: no line can cut that."""
    features = np.random.default_rng(0).normal(size=(count, 4))
    return features, ((features[:, 0] > 0) ^ (features[:, 2] > 0)).astype(int)


@both
def test_learns_saves_and_loads(maker: Maker, tmp_path: Path) -> None:
    data, labels = examples()
    grams = Ngrams(turns=(0,), min_count=1, weighting="boolean")
    model = maker(LABELS, [grams], num_boost_round=10).fit(data, labels, FitContext())
    unseen = [Example(Dialogue.of([text]), 0) for text in ("yay joy !", "tears alone", "such hate rage")]
    assert model.predict(unseen) == list(LABELS)
    answers = model.predict_proba(unseen)
    assert np.allclose(answers.sum(1), 1, atol=1e-6)
    model.save(tmp_path / "kept")
    assert np.array_equal(Block.load(tmp_path / "kept").predict_proba(unseen), answers)
    assert np.array_equal(model.predict_proba(unseen[1:2])[0], answers[1])
    assert not list(tmp_path.rglob("*.pkl"))


@both
def test_learns_what_no_line_can_cut(maker: Maker) -> None:
    features, classes = numbers()
    model = maker(("a", "b"), num_boost_round=40).fit_features(features[:150], classes[:150], FitContext())
    right = (model.predict_features(features[150:]).argmax(1) == classes[150:]).mean()
    assert right > 0.85


@both
def test_the_seed_decides(maker: Maker) -> None:
    features, classes = numbers()
    shares = {"bagging_fraction": 0.5, "feature_fraction": 0.5} if maker is lightgbm else {}
    shares = shares or {"subsample": 0.5, "colsample_bytree": 0.5}
    first, again, other = (
        maker(("a", "b"), num_boost_round=5, **shares)
        .fit_features(features, classes, FitContext(seed=seed))
        .predict_features(features)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_model_saved_under_the_former_names_of_parameters_is_loaded(tmp_path: Path) -> None:
    features, classes = numbers(40)
    former = {
        "rounds": 2,
        "rate": 0.1,
        "leaves": 31,
        "depth": 6,
        "min_leaf": 20,
        "column_share": 0.5,
        "row_share": 0.8,
        "penalty": 1.0,
    }
    trees = {
        LightGBM(("a", "b"), num_boost_round=2): ("leaves", "min_leaf"),
        XGBoost(("a", "b"), num_boost_round=2): ("depth",),
    }
    for model, own in trees.items():
        folder = tmp_path / type(model).__name__
        model.fit_features(features, classes, FitContext()).save(folder)
        content = json.loads((folder / "block.json").read_text())
        names = ("rounds", "rate", "column_share", "row_share", "penalty", *own)
        content["config"] = {"labels": ["a", "b"], "features": [], **{name: former[name] for name in names}}
        (folder / "block.json").write_text(json.dumps(content))
        again = Block.load(folder)
        assert isinstance(again, LightGBM | XGBoost)
        assert again.num_boost_round == 2
        assert again.parameters["learning_rate"] == 0.1
        assert ("feature_fraction" if own[0] == "leaves" else "colsample_bytree") in again.parameters
        assert np.array_equal(again.predict_features(features), model.predict_features(features))


@both
def test_a_label_never_seen_is_unlikely(maker: Maker) -> None:
    features, classes = numbers()
    answers = maker(LABELS, num_boost_round=40).fit_features(features, classes, FitContext()).predict_features(features)
    assert answers[:, 2].max() < 0.05


@both
def test_progress_is_reported(maker: Maker) -> None:
    told: list[tuple[str, float]] = []
    features, classes = numbers(40)
    maker(("a", "b"), num_boost_round=2).fit_features(
        features, classes, FitContext(progress=lambda *what: told.append(what))
    )
    assert told == [("round 1/2", 0.5), ("round 2/2", 1.0)]


@both
def test_mistakes_are_named(maker: Maker, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="has not been fitted"):
        maker(LABELS).predict_features(np.zeros((1, 1)))
    features, classes = numbers(40)
    with pytest.raises(EmoscopeError, match="at least two different labels"):
        maker(LABELS, [Ngrams(turns=(0,), min_count=1)]).fit(examples()[0], [LABELS[0]] * 30, FitContext())
    model = maker(("a", "b"), num_boost_round=2).fit_features(features, classes, FitContext())
    model.save(tmp_path)
    broken = next(path for path in tmp_path.iterdir() if path.suffix in (".txt", ".ubj"))
    broken.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=f"{broken.name}.*is not a valid (LightGBM|XGBoost) model"):
        Block.load(tmp_path)
