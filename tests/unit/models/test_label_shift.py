"""Class-prior correction."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError
from emoscope.models.label_shift import estimate_prior, prior_vector, shift_prior


def test_shift_by_hand() -> None:
    # p = (0.6, 0.4), training 50:50, target 80:20: 0.6*1.6=0.96 and 0.4*0.4=0.16, so 0.96/1.12.
    assert shift_prior([[0.6, 0.4]], [0.5, 0.5], [0.8, 0.2])[0, 0] == pytest.approx(0.96 / 1.12)


positive = st.floats(0.01, 1.0)


@given(
    st.tuples(positive, positive, positive),
    st.tuples(positive, positive, positive),
    st.tuples(positive, positive, positive),
)
def test_there_and_back_again(answer: tuple[float, ...], source: tuple[float, ...], target: tuple[float, ...]) -> None:
    p, s, t = (np.array(values) / sum(values) for values in (answer, source, target))
    assert np.allclose(shift_prior(shift_prior([p], s, t), t, s), [p])
    assert np.allclose(shift_prior([p], s, s), [p])


def test_impossible_evidence_gives_the_prior() -> None:
    assert shift_prior([[1.0, 0.0]], [0.5, 0.5], [0.0, 1.0]).tolist() == [[0.0, 1.0]]


def test_estimate_finds_the_mix_of_a_calibrated_model() -> None:
    # A feature with P(x=1|a)=0.9, P(x=1|b)=0.2; the model was trained at 50:50; real traffic has 10 % of a.
    rng = np.random.default_rng(0)
    is_a = rng.random(20_000) < 0.1
    x = rng.random(20_000) < np.where(is_a, 0.9, 0.2)
    p_a = np.where(x, 0.9 / 1.1, 0.1 / 0.9)
    found = estimate_prior(np.stack([p_a, 1 - p_a], 1), [0.5, 0.5])
    assert found[0] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize(
    "prior", [{"a": 1.0}, {"a": -1.0, "b": 2.0}, {"a": 0.0, "b": 0.0}, {"a": float("nan"), "b": 1.0}]
)
def test_bad_priors_are_refused(prior: dict[str, float]) -> None:
    with pytest.raises(EmoscopeError, match="a prior"):
        prior_vector(prior, ["a", "b"])


def test_no_dialogues_no_estimate() -> None:
    with pytest.raises(EmoscopeError, match=r"^estimating a prior needs at least one dialogue$"):
        estimate_prior(np.zeros((0, 2)), [0.5, 0.5])


def test_numbers_of_any_size_become_shares() -> None:
    assert prior_vector({"a": 3, "b": 1}, ["b", "a"]).tolist() == [0.25, 0.75]
    assert prior_vector({"a": 0, "b": 5}, ["a", "b"]).tolist() == [0, 1]
    assert prior_vector({"a": 0.2, "b": 0.2}, ["a", "b"]).tolist() == [0.5, 0.5]
    assert prior_vector({"a": 1.5e308, "b": 1.5e308}, ["a", "b"]).tolist() == [0.5, 0.5]
    with pytest.raises(EmoscopeError, match=r"^a prior must give one number for each of: a, b$"):
        prior_vector({"a": 1}, ["a", "b"])
    for prior in ({"a": 0, "b": 0}, {}):
        with pytest.raises(EmoscopeError, match=r"^a prior's numbers must be finite, not negative, and not all zero$"):
            prior_vector(prior, list(prior))


@pytest.mark.parametrize("value", ["half", None, [0.5]])
def test_a_prior_that_is_no_number_is_shown(value: Any) -> None:
    prior = {"a": 0.5, "b": value}
    with pytest.raises(EmoscopeError, match=f"^{re.escape(f'a prior gives a number for each label, not {prior}')}$"):
        prior_vector(prior, ["a", "b"])


def test_every_row_is_shifted_by_itself() -> None:
    shifted = shift_prior([[0.6, 0.4], [0.1, 0.9], [0.0, 1.0]], [0.5, 0.5], [0.8, 0.2])
    assert np.allclose(shifted.sum(1), 1)
    assert shifted[1].tolist() == pytest.approx([0.16 / 0.52, 0.36 / 0.52])
    assert shift_prior([1, 0], [1, 1], [2, 2]).tolist() == [1, 0]  # whole numbers, and a single row


def test_single_precision_answers_are_shifted_in_double_precision() -> None:
    single = np.array([[0.6, 0.4]], np.float32)
    target = np.array([0.8, 0.2], np.float32)
    assert shift_prior(single, np.array([0.5, 0.5], np.float32), target).dtype == np.float64
    assert estimate_prior(single, np.array([0.5, 0.5], np.float32), max_rounds=0).dtype == np.float64


def test_the_estimate_stops_when_it_moves_less_than_the_tolerance() -> None:
    answers = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]
    first = estimate_prior(answers, [0.5, 0.5], max_rounds=1)
    step = abs(first[0] - 0.5)
    assert first.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert estimate_prior(answers, [0.5, 0.5], tolerance=step * 1.01).tolist() == first.tolist()
    assert estimate_prior(answers, [0.5, 0.5], tolerance=step * 0.99)[0] > first[0]
