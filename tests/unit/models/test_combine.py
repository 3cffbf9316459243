"""Combinations of blocks, with parts whose answers are known beforehand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import BLOCKS, Block, Floats, load_block
from emoscope.models.ensembles.combine import Cascade, Folds, Majority, Mean, Stack, dialogue_folds


class Fixed(Block):
    """Always gives the same probabilities, and remembers what it was taught."""

    def __init__(self, labels: Sequence[str], answer: Sequence[float]) -> None:
        self.labels = tuple(labels)
        self.answer = list(answer)
        self.taught: list[list[str]] = []
        self.seeds: list[int] = []

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fitting: FitContext) -> Self:
        self.taught.append(list(labels))
        self.seeds.append(fitting.seed)
        return self

    def predict_proba(self, examples: Sequence[Example]) -> Floats:
        return np.tile(self.answer, (len(examples), 1))

    def fit_features(self, features: Floats, targets: Floats, fitting: FitContext) -> None:
        self.features = features

    def predict_features(self, features: Floats) -> Floats:
        return features[:, : len(self.labels)]

    def config(self) -> dict[str, Any]:
        return {"labels": self.labels, "answer": self.answer}

    def save_weights(self, folder: Path) -> None: ...

    def load_weights(self, folder: Path) -> None: ...


if "fixed-for-tests" not in BLOCKS:
    BLOCKS.add("fixed-for-tests", f"{__name__}:Fixed")

AB = ("a", "b")
EXAMPLES = [Example(Dialogue.of([f"text {number}"]), 0) for number in range(6)]
LABELS = ["a", "b"] * 3


def test_mean_and_weighted_mean() -> None:
    parts = [Fixed(AB, [1.0, 0.0]), Fixed(AB, [0.0, 1.0])]
    assert Mean(parts).predict_proba(EXAMPLES[:1]).tolist() == [[0.5, 0.5]]
    assert Mean(parts, [3, 1]).predict_proba(EXAMPLES[:1]).tolist() == [[0.75, 0.25]]
    with pytest.raises(EmoscopeError, match="one weight for each part"):
        Mean(parts, [1])


def test_majority_beats_one_loud_voice_and_ties_go_to_the_surer() -> None:
    loud = Majority([Fixed(AB, [1.0, 0.0]), Fixed(AB, [0.4, 0.6]), Fixed(AB, [0.4, 0.6])])
    assert loud.predict(EXAMPLES[:1]) == ["b"]
    tie = Majority([Fixed(AB, [0.9, 0.1]), Fixed(AB, [0.4, 0.6])])
    assert tie.predict(EXAMPLES[:1]) == ["a"]
    assert tie.predict_proba(EXAMPLES).sum(1) == pytest.approx(1)


def test_parts_get_seeds_of_their_own() -> None:
    parts = [Fixed(AB, [1.0, 0.0]), Fixed(AB, [1.0, 0.0])]
    Mean(parts).fit(EXAMPLES, LABELS, FitContext(seed=2))
    assert parts[0].seeds != parts[1].seeds


def test_folds_teach_each_part_all_but_its_fold() -> None:
    parts = [Fixed(AB, [1.0, 0.0]) for _ in range(3)]
    Folds(parts).fit(EXAMPLES, LABELS, FitContext())
    assert [len(part.taught[0]) for part in parts] == [4, 4, 4]
    with pytest.raises(EmoscopeError, match="cannot be cut into 9 folds"):
        dialogue_folds(EXAMPLES, 9, 0)


def test_cascade_by_hand() -> None:
    gate, rest = Fixed(("n", "other"), [0.7, 0.3]), Fixed(("x", "y"), [0.5, 0.5])
    cascade = Cascade([gate, rest], labels=("n", "x", "y"), neutral="n")
    cascade.fit(EXAMPLES, ["n", "x", "y", "n", "n", "x"], FitContext())
    assert gate.taught == [["n", "other", "other", "n", "n", "other"]]
    assert rest.taught == [["x", "y", "x"]]
    assert cascade.predict_proba(EXAMPLES[:1])[0] == pytest.approx([0.7, 0.15, 0.15])


def test_stack_learns_from_answers_to_what_was_not_seen() -> None:
    lower, top = Fixed(AB, [0.2, 0.8]), Fixed(AB, [0.0, 1.0])
    stack = Stack([lower, top], folds=3).fit(EXAMPLES, LABELS, FitContext())
    assert [len(taught) for taught in lower.taught] == [4, 4, 4, 6]
    assert top.features.shape == (6, 2)
    assert stack.predict_proba(EXAMPLES[:1]).tolist() == [[0.2, 0.8]]


def test_combinations_come_back_from_disk(tmp_path: Path) -> None:
    made = Mean([Fixed(AB, [1.0, 0.0]), Majority([Fixed(AB, [0.0, 1.0])])], [1, 3])
    made.save(tmp_path / "kept")
    again = load_block(tmp_path / "kept")
    assert isinstance(again, Mean)
    assert again.predict_proba(EXAMPLES).tolist() == made.predict_proba(EXAMPLES).tolist()


def test_unknown_blocks_are_not_made(tmp_path: Path) -> None:
    (tmp_path / "block.json").write_text('{"block": "os:system", "config": {}}')
    with pytest.raises(EmoscopeError, match="no block named 'os:system'"):
        load_block(tmp_path)
