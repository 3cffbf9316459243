"""Combinations of blocks, with parts whose answers are known beforehand."""

import json
from pathlib import Path

import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Cascade, Folds, Majority, Mean, dialogue_folds
from kits.fixed_block import Fixed

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
    with pytest.raises(EmoscopeError, match="cannot be divided into 9 folds"):
        dialogue_folds(EXAMPLES, 9, 0)


def test_cascade_by_hand() -> None:
    gate, rest = Fixed(("n", "other"), [0.7, 0.3]), Fixed(("x", "y"), [0.5, 0.5])
    cascade = Cascade([gate, rest], labels=("n", "x", "y"), neutral="n")
    cascade.fit(EXAMPLES, ["n", "x", "y", "n", "n", "x"], FitContext())
    assert gate.taught == [["n", "other", "other", "n", "n", "other"]]
    assert rest.taught == [["x", "y", "x"]]
    assert cascade.predict_proba(EXAMPLES[:1])[0] == pytest.approx([0.7, 0.15, 0.15])


def test_combinations_survive_saving(tmp_path: Path) -> None:
    made = Mean([Fixed(AB, [1.0, 0.0]), Majority([Fixed(AB, [0.0, 1.0])])], [1, 3])
    made.save(tmp_path / "kept")
    again = Block.load(tmp_path / "kept")
    assert isinstance(again, Mean)
    assert again.predict_proba(EXAMPLES).tolist() == made.predict_proba(EXAMPLES).tolist()
    (tmp_path / "kept" / "part1" / "block.json").unlink()
    with pytest.raises(EmoscopeError, match=r"part1: holds no block \(block.json is missing\)"):
        Block.load(tmp_path / "kept")


def test_combinations_of_older_versions_still_load(tmp_path: Path) -> None:
    parts = [Fixed(AB, [share / 10, 1 - share / 10]) for share in range(11)]
    weights = [float(number) for number in range(11)]
    mean = Mean(parts, weights)
    mean.save(tmp_path)
    old = {"block": "mean", "config": {"parts": 11, "weights": weights}}
    (tmp_path / "block.json").write_text(json.dumps(old), encoding="utf-8")
    again = Block.load(tmp_path)
    assert list(again.children()) == [f"part{number}" for number in range(11)]
    assert again.predict_proba(EXAMPLES).tolist() == mean.predict_proba(EXAMPLES).tolist()


def test_text_that_no_part_reads_is_truncated() -> None:
    long = Example(Dialogue.of(["a", "b", "c"]), 2)
    one, two, silent = Fixed(AB, [0.5, 0.5], 1), Fixed(AB, [0.5, 0.5], 2), Fixed(AB, [0.5, 0.5])
    for parts, expected in (([one, two, silent], True), ([one, Mean([Fixed(AB, [1.0, 0.0], 3)])], False)):
        truncated = Mean(parts).infer([*EXAMPLES[:1], long]).truncated
        assert truncated is not None
        assert truncated.tolist() == [False, expected]
    assert Majority([silent]).infer([long]).truncated is None


def test_unknown_blocks_are_not_made(tmp_path: Path) -> None:
    (tmp_path / "block.json").write_text('{"block": "os:system", "config": {}}')
    with pytest.raises(EmoscopeError, match="no block named 'os:system'"):
        Block.load(tmp_path)
