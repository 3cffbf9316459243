"""Voting in steps, with classifiers that give fixed answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block
from emoscope.models.ensembles.voting import MultiStepVote
from kits.fixed_block import Fixed

LABELS = ("others", "happy", "sad", "angry")
EMOTIONS = LABELS[1:]
GATE = ("others", "emotion")
ONE = [Example(Dialogue.of(["hi"]), 0)]


def vote(
    every: Sequence[Sequence[float]], others: Sequence[Sequence[float]], gates: Sequence[float], **options: Any
) -> MultiStepVote:
    return MultiStepVote(
        LABELS,
        "others",
        [Fixed(LABELS, answer) for answer in every],
        [Fixed(EMOTIONS, answer) for answer in others],
        [Fixed(GATE, (neutral, 1 - neutral)) for neutral in gates],
        **options,
    )


def test_soft_votes_by_hand() -> None:
    block = vote([[0.5, 0.3, 0.1, 0.1]], [[0.2, 0.6, 0.2]], [0.1], soft=True)
    # Neutral: (0.5 + 0.1) / 2 = 0.3. Emotions: 0.3 + 0.2, 0.1 + 0.6, 0.1 + 0.2, of 1.5 in all; they share 0.7.
    expected = [0.3, 0.7 * 0.5 / 1.5, 0.7 * 0.7 / 1.5, 0.7 * 0.3 / 1.5]
    assert block.predict_proba(ONE)[0] == pytest.approx(expected)


def test_the_gates_overrule_a_hesitant_majority_then_the_second_set_decides() -> None:
    # Others: 2 of 3 four-way classifiers, but no gate: 2 of 6 votes. Then happy has 1 vote, sad 2.
    block = vote(
        [[0.6, 0.4, 0, 0], [0.6, 0, 0.4, 0], [0.2, 0.8, 0, 0]],
        [[0.1, 0.8, 0.1], [0.1, 0.8, 0.1]],
        [0.4, 0.4, 0.4],
    )
    answers = block.predict_proba(ONE)[0]
    assert block.predict(ONE) == ["sad"]
    assert answers[0] == pytest.approx(2 / 6, abs=1e-3)
    assert answers[2] == pytest.approx(4 / 6, abs=2e-3)


def test_the_steps_decide_even_where_no_single_emotion_outweighs_neutral() -> None:
    # Step 2: 4 of 10 votes for others, so it is an emotion, though in shares 0.4 is more than 0.6 / 3 each.
    others = [[0.4, 0.35, 0.25], [0.25, 0.4, 0.35], [0.35, 0.25, 0.4], [0.45, 0.3, 0.25], [0.3, 0.45, 0.25]]
    block = vote([[0.9, 0.1, 0, 0]] * 4 + [[0.1, 0, 0, 0.9]], others, [0.1] * 5)
    assert block.predict_proba(ONE)[0][0] == pytest.approx(0.4, abs=1e-3)
    assert block.predict(ONE) != ["others"]


def test_probability_breaks_a_tie() -> None:
    # One vote for others, one against: the gate is surer.
    block = vote([[0.6, 0.4, 0, 0]], [[0.1, 0.1, 0.8]], [0.1])
    assert block.predict(ONE) == ["angry"]
    assert vote([[0.9, 0.1, 0, 0]], [[0.1, 0.1, 0.8]], [0.4]).predict(ONE) == ["others"]


@pytest.mark.parametrize("soft", [True, False])
def test_probabilities_sum_to_one_and_no_example_gives_no_row(soft: bool) -> None:
    draw = np.random.default_rng(0)
    block = vote(draw.dirichlet(np.ones(4), 3).tolist(), draw.dirichlet(np.ones(3), 2).tolist(), [0.3], soft=soft)
    assert block.predict_proba(ONE * 3).sum(1) == pytest.approx(1)
    assert block.predict_proba([]).shape == (0, 4)


def test_each_set_learns_its_own_question() -> None:
    block = vote([[1, 0, 0, 0]], [[1, 0, 0]] * 2, [0.5])
    block.fit(ONE * 4, ["others", "sad", "happy", "others"], FitContext(seed=2))
    every, others, gates = (block.sets[name] for name in ("every", "others", "gates"))
    assert [part.taught[-1] for part in every] == [["others", "sad", "happy", "others"]]  # type: ignore[attr-defined]
    assert [part.taught[-1] for part in others] == [["sad", "happy"]] * 2  # type: ignore[attr-defined]
    assert [part.taught[-1] for part in gates] == [["others", "emotion", "emotion", "others"]]  # type: ignore[attr-defined]
    seeds = [part.seeds[-1] for part in (*every, *others, *gates)]  # type: ignore[attr-defined]
    assert len(set(seeds)) == 4


def test_a_saved_vote_answers_alike(tmp_path: Path) -> None:
    block = vote([[0.4, 0.3, 0.2, 0.1]] * 2, [[0.2, 0.5, 0.3]], [0.3, 0.6], soft=True)
    block.save(tmp_path)
    loaded = Block.load(tmp_path)
    assert isinstance(loaded, MultiStepVote)
    assert [len(parts) for parts in loaded.sets.values()] == [2, 1, 2]
    assert np.array_equal(loaded.predict_proba(ONE), block.predict_proba(ONE))


def test_sets_that_do_not_fit_are_refused() -> None:
    four, three, gate = Fixed(LABELS, [0.25] * 4), Fixed(EMOTIONS, [0.3] * 3), Fixed(GATE, [0.5, 0.5])
    with pytest.raises(EmoscopeError, match="at least one classifier"):
        MultiStepVote(LABELS, "others", [four], [], [gate])
    with pytest.raises(EmoscopeError, match="other labels than its set"):
        MultiStepVote(LABELS, "others", [four], [four], [gate])
    with pytest.raises(EmoscopeError, match="a gate's labels are 'others' and one other"):
        MultiStepVote(LABELS, "others", [four], [three], [three])
