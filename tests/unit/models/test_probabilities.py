"""Scores as probabilities, and the temperature."""

import numpy as np
import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.models.probabilities import LabelGrouping, head_columns, label_probabilities, softmax, temperature_of


def test_softmax_by_hand_and_with_scores_that_would_overflow() -> None:
    assert softmax(np.array([[np.log(3.0), 0.0]])).tolist() == [pytest.approx([0.75, 0.25])]
    assert softmax(np.array([[1e5, 0.0], [-1e5, -1e5]])).tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert softmax(np.zeros((2, 3, 4))).sum(-1).tolist() == [[1.0] * 3] * 2


def test_each_question_multiplies_the_labels_of_its_groups() -> None:
    labels, first, second = [0.5, 0.3, 0.2], [0.9, 0.1], [0.25, 0.75]
    scores = np.log([[*labels, *first, *second]])
    questions = [LabelGrouping(2, (0, 1, 1)), LabelGrouping(2, (-1, 0, 1))]  # the second leaves the first label out
    expected = np.array([0.5 * 0.9, 0.3 * 0.1 * 0.25, 0.2 * 0.1 * 0.75])
    assert np.allclose(label_probabilities(scores, questions, 3), [expected / expected.sum()])
    twice = label_probabilities(np.concatenate([scores, np.zeros_like(scores)]), questions, 3)
    assert np.allclose(twice, [expected / expected.sum(), np.array([2, 1, 1]) / 4])


def test_without_questions_it_is_the_softmax() -> None:
    scores = np.array([[1.0, 2.0, 3.0]])
    assert np.allclose(label_probabilities(scores, [], 3), softmax(scores))


def test_impossible_answers_give_no_division_by_zero() -> None:
    scores = np.array([[0.0, -1e9, 0.0, -1e9, 0.0]])  # the label is ruled out by its group
    assert np.isfinite(label_probabilities(scores, [LabelGrouping(2, (1, 0))], 2)).all()


@pytest.mark.parametrize("true", [0.5, 1.0, 2.0, 4.0])
def test_the_temperature_that_made_the_data_is_found(true: float) -> None:
    draw = np.random.default_rng(0)
    scores = draw.normal(0, 3, (20_000, 4))
    chances = softmax(scores / true)
    classes = (chances.cumsum(1) < draw.random((20_000, 1))).sum(1)
    assert temperature_of(scores, classes) == pytest.approx(true, rel=0.04)


def test_the_temperature_is_found_where_classes_are_as_frequent_as_in_real_traffic() -> None:
    draw = np.random.default_rng(0)
    scores, offsets = draw.normal(0, 3, (20_000, 3)), np.log([4.0, 0.5, 0.5])
    chances = softmax(scores / 2 + offsets)
    classes = (chances.cumsum(1) < draw.random((20_000, 1))).sum(1)
    assert temperature_of(scores, classes, offsets=offsets) == pytest.approx(2, rel=0.04)
    assert temperature_of(scores, classes) != pytest.approx(2, rel=0.1)


def test_temperature_is_bounded() -> None:
    always_right, right = np.array([[0.5, 0.0]] * 5), np.zeros(5, np.int64)
    assert temperature_of(always_right, right) == pytest.approx(np.exp(-2.5), rel=0.01)
    assert temperature_of(always_right, right, reach=1.0) == pytest.approx(np.exp(-1.0), rel=0.01)
    assert temperature_of(always_right, right + 1) == pytest.approx(np.exp(2.5), rel=0.01)


def test_the_columns_of_a_head_are_where_its_labels_are() -> None:
    heads = {"mood": ["good", "bad"], "tone": ["up", "down", "level"], "topic": ["work"]}
    columns = [head_columns(heads, head) for head in heads]
    assert columns == [slice(0, 2), slice(2, 5), slice(5, 6)]
    with pytest.raises(EmoscopeError, match=r"^no head 'tune'; there are: mood, tone, topic$"):
        head_columns(heads, "tune")
