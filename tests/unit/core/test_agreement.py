"""Fleiss' kappa against published and hand-computed values and another formula."""

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from emoscope.core.agreement import cohen_kappa, fleiss_kappa, fleiss_kappa_per_label, krippendorff_alpha
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.describe.statistics import describe
from emoscope.tasks import get_task
from kits.textbook_votes import TEXTBOOK

tables = st.integers(2, 4).flatmap(
    lambda labels: st.lists(st.lists(st.integers(0, 4), min_size=labels, max_size=labels), min_size=1, max_size=12)
)


def test_the_textbook_example() -> None:
    assert round(fleiss_kappa(TEXTBOOK), 3) == 0.210


def test_perfect_agreement_is_one() -> None:
    assert fleiss_kappa(np.array([[5, 0, 0], [0, 5, 0], [0, 0, 5]])) == 1.0
    assert fleiss_kappa_per_label(np.array([[5, 0], [0, 5]])).tolist() == [1.0, 1.0]


def test_two_raters_who_never_agree() -> None:
    # P = 0; p = (1/2, 1/2), E = 1/2; kappa = (0 - 1/2) / (1 - 1/2)
    assert fleiss_kappa(np.array([[1, 1], [1, 1], [1, 1]])) == -1.0


def test_items_may_have_different_numbers_of_raters() -> None:
    # [2, 1]: P = (2*1 + 1*0) / (3*2) = 1/3.  [0, 2]: P = 1.  Mean 2/3.
    # p = ((2/3 + 0) / 2, (1/3 + 1) / 2) = (1/3, 2/3);  E = 1/9 + 4/9 = 5/9.
    # kappa = (2/3 - 5/9) / (1 - 5/9) = (1/9) / (4/9)
    assert fleiss_kappa(np.array([[2, 1], [0, 2]])) == pytest.approx(0.25)


def test_items_with_fewer_than_two_votes_are_left_out() -> None:
    assert fleiss_kappa(np.array([[2, 1], [0, 2], [1, 0], [0, 0]])) == fleiss_kappa(np.array([[2, 1], [0, 2]]))


def test_kappa_of_one_label_by_hand() -> None:
    # The second label against the others: [2, 1], [0, 3], [3, 0] in votes for others and for it.
    # P = (1/3 + 1 + 1) / 3 = 7/9;  p = (5/9, 4/9), E = 41/81;  kappa = (63/81 - 41/81) / (40/81) = 22/40
    votes = np.array([[1, 1, 1], [0, 3, 0], [3, 0, 0]])
    assert fleiss_kappa_per_label(votes)[1] == pytest.approx(0.55)


@pytest.mark.parametrize("votes", [[[1, 0], [0, 1]], [[3, 0], [2, 0]]])
def test_kappa_is_nan_where_it_is_not_defined(votes: list[list[int]]) -> None:
    assert math.isnan(fleiss_kappa(np.array(votes)))


def test_label_without_votes_has_no_kappa() -> None:
    per_label = fleiss_kappa_per_label(np.array([[2, 1, 0], [0, 3, 0]]))
    assert np.isnan(per_label).tolist() == [False, False, True]


@pytest.mark.parametrize("votes", [[1, 2], [[1.5, 2]], [[-1, 3]], [[math.nan, 3]]])
def test_invalid_votes_are_reported(votes: list[object]) -> None:
    with pytest.raises(EmoscopeError, match="votes must be"):
        fleiss_kappa(np.array(votes, np.float64))


@pytest.mark.parametrize(
    ("votes", "problem"),
    [
        ([1, 2], "votes must be a table of items by labels, not an array of 1 dimensions"),
        ([[0.5, 2]], "votes must be whole numbers, none below zero"),
    ],
)
def test_invalid_votes_are_described(votes: list[object], problem: str) -> None:
    for measure in (fleiss_kappa, fleiss_kappa_per_label, krippendorff_alpha):
        with pytest.raises(EmoscopeError) as caught:
            measure(np.array(votes, np.float64))
        assert str(caught.value) == problem


def test_alpha_by_hand() -> None:
    # [2, 1]: (9 - 5) / 2 = 2;  [0, 2]: 0;  [1, 1]: (4 - 2) / 1 = 2.  n = 7, by label (3, 4).
    # Chance: 49 - 9 - 16 = 24.  alpha = 1 - (2 + 2) * (7 - 1) / 24 = 0; the single vote is left out.
    votes = np.array([[2, 1], [0, 2], [1, 1], [1, 0], [0, 0]])
    assert krippendorff_alpha(votes) == pytest.approx(0)
    # [3, 0, 0], [0, 4, 0], [0, 1, 1]: 2 / 1 = 2;  n = 9, by label (3, 5, 1);  chance: 81 - 35 = 46
    assert krippendorff_alpha(np.array([[3, 0, 0], [0, 4, 0], [0, 1, 1]])) == pytest.approx(1 - 2 * 8 / 46)


@pytest.mark.parametrize("votes", [[[1, 0], [0, 1]], [[3, 0], [2, 0]]])
def test_alpha_is_nan_where_it_is_not_defined(votes: list[list[int]]) -> None:
    assert math.isnan(krippendorff_alpha(np.array(votes)))


def test_cohens_kappa_by_hand() -> None:
    # Of 10: both 4 and 3, so 0.7; chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa = 0.2 / 0.5
    assert float(cohen_kappa(np.array([[4, 1], [2, 3]]))) == pytest.approx(0.4)
    stack = np.array([[[4, 1], [2, 3]], [[0, 2], [2, 0]], [[3, 0], [0, 0]], [[0, 0], [0, 0]]])
    one, never, *undefined = cohen_kappa(stack).tolist()
    assert (one, never) == (pytest.approx(0.4), -1.0)
    assert all(math.isnan(each) for each in undefined)
    assert float(cohen_kappa(np.array([[0, 1], [0, 0]]))) == 0  # one item: (0 - 0) / (1 - 0)
    # Three labels: both 1 + 2 + 3 of 9; chance (2 * 2 + 3 * 4 + 4 * 3) / 81; kappa = (54 - 28) / (81 - 28)
    assert float(cohen_kappa(np.array([[1, 1, 0], [1, 2, 0], [0, 1, 3]]))) == pytest.approx(26 / 53)


@given(tables)
def test_kappa_is_agreement_of_pairs_of_votes(rows: list[list[int]]) -> None:
    """The same from single votes: do two annotators of an item agree, and would two drawn from everywhere?"""
    ballots = [[label for label, count in enumerate(row) for _ in range(count)] for row in rows if sum(row) >= 2]
    assume(ballots and len({label for ballot in ballots for label in ballot}) > 1)
    agreeing = [[a == b for a, b in combinations(ballot, 2)] for ballot in ballots]
    observed = sum(sum(pairs) / len(pairs) for pairs in agreeing) / len(agreeing)
    shares = [sum(ballot.count(label) / len(ballot) for ballot in ballots) / len(ballots) for label in range(4)]
    expected = sum(share * share for share in shares)
    assert fleiss_kappa(np.array(rows)) == pytest.approx((observed - expected) / (1 - expected), abs=1e-9)


@given(tables, st.randoms(use_true_random=False))
def test_order_of_items_and_labels_does_not_matter(rows: list[list[int]], random: object) -> None:
    votes = np.array(rows)
    generator = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    shuffled = generator.permutation(generator.permutation(votes, axis=0), axis=1)
    assert fleiss_kappa(shuffled) == pytest.approx(fleiss_kappa(votes), nan_ok=True)


@given(tables)
def test_overall_kappa_is_the_labels_mean_weighted_by_their_spread(rows: list[list[int]]) -> None:
    votes = np.array(rows, np.float64)
    kept = votes[votes.sum(1) >= 2]
    assume(len(kept) > 0)
    shares = (kept / kept.sum(1, keepdims=True)).mean(0)
    spread = shares * (1 - shares)
    assume(spread.sum() > 1e-9)
    per_label = np.nan_to_num(fleiss_kappa_per_label(votes))
    assert fleiss_kappa(votes) == pytest.approx((per_label * spread).sum() / spread.sum(), abs=1e-9)
    assert fleiss_kappa(votes) <= 1 + 1e-12


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file", "kappa"),
    [("emotionx-friends", "friends.json", 0.338), ("emotionx-push", "emotionpush.json", 0.336)],
)
def test_emotionx_training_files(data_folder: Path, name: str, file: str, kappa: float) -> None:
    task = get_task(name)
    votes = describe(task.read(data_folder / "emotionx" / file), task.labels, neutral="neutral").votes
    assert votes is not None
    assert votes.kappa is not None and round(votes.kappa, 3) == kappa
    assert set(votes.kappa_per_label) == set(task.metadata.vote_labels)
    # As the paper says of disgust and fear: poor agreement.
    for label in ("disgust", "fear"):
        found = votes.kappa_per_label[label]
        assert found is not None and found < 0.2
