"""Blends: fold by fold, one process or several, interrupted or not."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats
from emoscope.models.ensembles.blend import WEIGHTS, Blend, blend_weights, blended, geometric_mean
from emoscope.models.ensembles.fit_members import PROBABILITIES, MemberFit, fit_members
from emoscope.models.linear.ngram_block import NgramBlock

pytest.importorskip("sklearn")
LABELS = ("happy", "sad")


def examples() -> tuple[list[Example], list[str]]:
    words = {"happy": ("so glad", "great fun", "we won"), "sad": ("so blue", "we lost", "I cry")}
    made = [
        Example(Dialogue.of([f"{word} number {number}"]), 0, label)
        for label in LABELS
        for word in words[label]
        for number in range(8)
    ]
    return made, [str(example.label) for example in made]


def blend() -> Blend:
    return Blend([NgramBlock(LABELS, bits=10), NgramBlock(LABELS, bits=12, char_lengths=[2])], folds=3)


def test_every_example_is_answered_by_copies_that_did_not_see_it() -> None:
    rows, labels = examples()
    made = blend().fit(rows, labels, FitContext(seed=1))
    assert made.held_out.shape == (len(rows), 2, 2)
    assert np.allclose(made.held_out.sum(-1), 1)
    for fold, copy in enumerate(made.fitted[1]):
        mine = np.flatnonzero(made.cut == fold)
        expected = copy.predict_proba([rows[index] for index in mine])
        assert np.array_equal(made.held_out[mine, 1], expected)
    assert (made.out_of_fold().argmax(1) == [LABELS.index(label) for label in labels]).mean() > 0.9


def test_new_wordings_are_answered_by_copies_that_did_not_see_their_original() -> None:
    rows, labels = examples()
    made = blend().fit(rows, labels, FitContext(seed=1))
    assert np.allclose(made.answers_unseen(rows, made.cut.tolist()), made.out_of_fold())
    other = made.answers_unseen(rows, ((made.cut + 1) % 3).tolist())
    assert not np.allclose(other, made.out_of_fold())


def test_copies_are_averaged_and_members_blended() -> None:
    rows, labels = examples()
    made = blend().fit(rows, labels, FitContext(seed=1))
    assert [len(copies) for copies in made.fitted] == [3, 3]
    members = [geometric_mean([copy.predict_proba(rows) for copy in copies]) for copies in made.fitted]
    assert np.array_equal(made.predict_proba(rows), blended(np.stack(members, 1), made.weights, made.bias))
    targets = np.array([[label == name for name in LABELS] for label in labels], float)
    weights, bias = blend_weights(made.held_out, targets)
    assert (made.weights.tolist(), made.bias.tolist()) == (weights.tolist(), bias.tolist())


def test_every_copy_has_a_name_a_fold_and_a_seed_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = examples()
    seen: list[MemberFit] = []

    def watched(parts: Sequence[MemberFit], *given: Any) -> Any:
        seen.extend(parts)
        return fit_members(parts, *given)

    monkeypatch.setattr("emoscope.models.ensembles.blend.fit_members", watched)
    untrained = blend()
    for seed in (0, 1):
        untrained.fit(rows, labels, FitContext(seed=seed))
    assert [part.name for part in seen] == [f"member{member}-fold{fold}" for member in (0, 1) for fold in range(3)] * 2
    assert len({part.seed for part in seen}) == len(seen)
    for part in seen:
        assert sorted([*part.fit_on, *part.predict_on]) == list(range(len(rows)))
        assert part.block not in untrained.members  # which stay as they were


def test_a_saved_blend_answers_the_same_and_keeps_its_held_out_answers(tmp_path: Path) -> None:
    rows, labels = examples()
    made = blend().fit(rows, labels, FitContext(seed=1))
    made.save(tmp_path / "blend")
    again = Block.load(tmp_path / "blend")
    assert isinstance(again, Blend)
    assert (again.folds, len(again.members), again.labels) == (3, 2, LABELS)
    assert [len(copies) for copies in again.fitted] == [3, 3]
    assert np.array_equal(again.predict_proba(rows), made.predict_proba(rows))
    assert (again.weights.tolist(), again.bias.tolist()) == (made.weights.tolist(), made.bias.tolist())
    assert again.cut.tolist() == made.cut.tolist()
    assert again.held_out.dtype == np.float64
    assert np.allclose(again.held_out, made.held_out, atol=1e-6)
    for content in ('{"weights": [1, 1]}', '{"weights": [1, 1], "bias": ["a"]}'):
        (tmp_path / "blend" / WEIGHTS).write_text(content)
        with pytest.raises(InputError, match=f"^{re.escape(str(tmp_path))}.*: does not hold the weights of a blend$"):
            Block.load(tmp_path / "blend")


def test_workers_give_what_one_process_gives() -> None:
    rows, labels = examples()
    alone = blend().fit(rows, labels, FitContext(seed=1))
    several = blend().fit(rows, labels, FitContext(seed=1, workers=2))
    assert np.array_equal(alone.held_out, several.held_out)
    assert np.array_equal(alone.predict_proba(rows), several.predict_proba(rows))


def test_killed_fit_resumes_with_its_finished_parts(tmp_path: Path) -> None:
    rows, labels = examples()

    def kill(message: str, done: float) -> None:
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        blend().fit(rows, labels, FitContext(seed=1, checkpoints=tmp_path, progress=kill))
    kept = sorted(path.parent.name for path in tmp_path.glob(f"*/{PROBABILITIES}"))
    assert len(kept) == 4
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob(f"*/{PROBABILITIES}")}
    resumed = blend().fit(rows, labels, FitContext(seed=1, checkpoints=tmp_path))
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert np.array_equal(resumed.held_out, blend().fit(rows, labels, FitContext(seed=1)).held_out)


def test_the_blend_leans_on_the_better_member_and_calibrates() -> None:
    draw = np.random.default_rng(0)
    gold = draw.integers(2, size=4000)
    targets = np.eye(2)[gold]
    # The good member is right in 9 of 10 but says 0.6; the other one guesses.
    right = draw.random(4000) < 0.9
    said = np.where(right, gold, 1 - gold)
    good = np.where(np.eye(2)[said] == 1, 0.6, 0.4)
    guess = np.eye(2)[draw.integers(2, size=4000)] * 0.8 + 0.1
    answers = np.stack([good, guess], 1)
    weights, bias = blend_weights(answers, targets)
    assert weights[0] > 2.9
    assert weights[1] < 0.05
    assert np.abs(bias).max() < 0.1
    assert blended(answers, weights, bias).max(1).mean() > 0.75


def test_weights_are_the_most_likely_ones_near_equal_weights() -> None:
    draw = np.random.default_rng(0)
    answers = draw.dirichlet([1, 1, 1], size=(60, 2))
    targets = np.eye(3)[np.where(draw.random(60) < 0.7, answers[:, 0].argmax(-1), draw.integers(3, size=60))]

    def loss(values: Floats) -> float:
        logits = np.log(answers[:, 0]) * values[0] + np.log(answers[:, 1]) * values[1] + values[2:]
        likely = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        pull = ((values - [0.5, 0.5, 0, 0, 0]) ** 2).sum()
        return float(-np.log((likely * targets).sum(1)).mean() + 1e-4 * pull)

    best = optimize.minimize(loss, np.full(5, 0.1), method="BFGS", options={"gtol": 1e-7}).x
    assert best[:2].min() > 0 and best[:2].max() < 3  # within the bounds
    assert np.concatenate(blend_weights(answers, targets)) == pytest.approx(best, abs=2e-3)
    # Members that always agree leave only the sum of their weights to be found.
    weights, _ = blend_weights(answers[:, [0, 0, 0]], targets)
    assert weights == pytest.approx(np.full(3, weights.mean()), abs=1e-4)


def test_weights_and_biases_are_bounded() -> None:
    rights = np.tile([[0.6, 0.4], [0.4, 0.6]], (50, 1))
    weights, bias = blend_weights(rights[:, None], np.tile(np.eye(2), (50, 1)))
    assert weights.tolist() == [3.0]
    assert bias == pytest.approx([0, 0], abs=1e-6)
    _, bias = blend_weights(np.full((50, 1, 2), 0.5), np.tile([1.0, 0.0], (50, 1)))
    assert bias.tolist() == [3.0, -3.0]


def test_blends_by_hand() -> None:
    answers = np.array([[[0.5, 0.5], [0.8, 0.2]], [[0.9, 0.1], [1.0, 0.0]]])
    made = blended(answers, np.array([1.0, 0.5]), np.array([np.log(3), 0.0]))
    assert made[0] == pytest.approx(np.array([3 * 0.5 * 0.8**0.5, 0.5 * 0.2**0.5]) / (1.5 * 0.8**0.5 + 0.5 * 0.2**0.5))
    impossible = 0.1 * 1e-7**0.5  # what is ruled out counts as one in ten million
    assert made[1, 1] == pytest.approx(impossible / (2.7 + impossible))
    three = geometric_mean([np.array([[0.5, 0.5]]), np.array([[0.8, 0.2]]), np.array([[0.8, 0.2]])])
    assert three[0, 0] == pytest.approx(1 / (1 + 0.25 ** (2 / 3)))
    ruled_out = geometric_mean([np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])])
    assert ruled_out[0, 1] == pytest.approx(1e-7**0.5 / (1 + 1e-7**0.5))


def test_means_and_mistakes() -> None:
    assert geometric_mean([np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]])])[0, 0] > 0.999
    with pytest.raises(EmoscopeError, match=r"^a blend needs at least one member$"):
        Blend([])
    with pytest.raises(EmoscopeError, match=r"^a blend needs at least 2 folds$"):
        Blend([NgramBlock(LABELS)], folds=1)
    assert Blend([NgramBlock(LABELS)], folds=2).folds == 2
    with pytest.raises(EmoscopeError, match=r"^this blend has not been fitted$"):
        blend().predict_proba(examples()[0])


def test_no_member_counts_negative_and_one_that_misleads_counts_nothing() -> None:
    """With a weight below 0, a member would have to be wrong for the blend to be right."""
    draw = np.random.default_rng(0)
    gold = draw.integers(2, size=400)
    right = np.where(gold[:, None] == [0, 1], 0.8, 0.2)
    wrong = 1 - right
    weights, bias = blend_weights(np.stack([right, wrong], 1), np.eye(2)[gold])
    assert weights[1] == 0
    assert 0 < weights[0] <= 3
    assert np.abs(bias).max() < 0.5
    assert (blended(np.stack([right, wrong], 1), weights, bias).argmax(1) == gold).all()
