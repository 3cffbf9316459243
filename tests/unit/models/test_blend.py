"""Blends: fold by fold, one process or several, interrupted or not."""

from pathlib import Path

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.ensembles.blend import Blend, blend_weights, blended, geometric_mean
from emoscope.models.ensembles.fit_members import PROBABILITIES
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


def test_workers_give_what_one_process_gives(tmp_path: Path) -> None:
    rows, labels = examples()
    alone = blend().fit(rows, labels, FitContext(seed=1))
    several = blend().fit(rows, labels, FitContext(seed=1, workers=2))
    assert np.array_equal(alone.held_out, several.held_out)
    assert np.array_equal(alone.predict_proba(rows), several.predict_proba(rows))
    several.save(tmp_path / "blend")
    again = Block.load(tmp_path / "blend")
    assert isinstance(again, Blend)
    assert np.array_equal(again.predict_proba(rows), alone.predict_proba(rows))
    assert np.allclose(again.out_of_fold(), alone.out_of_fold(), atol=1e-6)


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


def test_means_and_mistakes() -> None:
    assert geometric_mean([np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]])])[0, 0] > 0.999
    with pytest.raises(EmoscopeError, match="at least one member"):
        Blend([])
    with pytest.raises(EmoscopeError, match="at least 2 folds"):
        Blend([NgramBlock(LABELS)], folds=1)
    with pytest.raises(EmoscopeError, match="has not been fitted"):
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
