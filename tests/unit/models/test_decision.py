"""Which label to answer with, where the metric is an F1 of rare classes."""

import numpy as np
import pytest

from emoscope.core.metrics import Metric
from emoscope.models.decision import _search, choose_multipliers

NAMES = ("others", "happy", "sad")
RARE = Metric("micro-f1", "micro-F1 over the emotions", labels=("happy", "sad"))
PRIOR = np.array([0.8, 0.1, 0.1])


def timid(count: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """A model that is right in its ranking and far too slow to name `happy`."""
    draw = np.random.default_rng(seed)
    gold = draw.choice(3, size=count, p=PRIOR)
    scores = draw.normal(0, 0.6, (count, 3))
    scores[np.arange(count), gold] += 2.0
    scores[:, 1] -= 1.1
    raised = np.exp(scores)
    return [NAMES[place] for place in gold], raised / raised.sum(1, keepdims=True)


def score(labels: list[str], probabilities: np.ndarray, multipliers: np.ndarray) -> float:
    confusion = np.zeros((3, 3))
    for label, row in zip(labels, probabilities * multipliers, strict=True):
        confusion[NAMES.index(label), row.argmax()] += 1
    return float(RARE(confusion, NAMES))


def test_a_label_that_is_named_too_seldom_is_raised_and_others_stay() -> None:
    labels, probabilities = timid(3000)
    found = choose_multipliers(RARE, NAMES, labels, probabilities, PRIOR)
    assert found is not None
    assert found[0] == 1  # only ratios matter
    assert 1.8 < found[1] < np.exp(1.2) + 1e-9
    assert 0.6 < found[2] < 1.6
    new_labels, new = timid(3000, seed=1)
    assert score(new_labels, new, found) > score(new_labels, new, np.ones(3)) + 0.03


def test_the_same_data_give_the_same_numbers() -> None:
    labels, probabilities = timid(800)
    first, second = (choose_multipliers(RARE, NAMES, labels, probabilities, PRIOR) for _ in range(2))
    assert first is not None and second is not None
    assert first.tolist() == second.tolist()


def test_nothing_is_chosen_where_it_would_not_help() -> None:
    draw = np.random.default_rng(3)
    gold = draw.integers(3, size=300)
    probabilities = draw.dirichlet(np.ones(3), size=300)  # that know nothing
    assert choose_multipliers(RARE, NAMES, [NAMES[place] for place in gold], probabilities, PRIOR) is None
    sure = np.eye(3)[gold] * 0.9 + 0.1 / 3
    assert choose_multipliers(RARE, NAMES, [NAMES[place] for place in gold], sure, PRIOR) is None


def test_examples_count_as_often_as_their_label_occurs_outside() -> None:
    """Data with as many emotions as others must not make it name emotions where they are rare."""
    draw = np.random.default_rng(5)
    gold = np.repeat([0, 1, 2], 600)
    scores = draw.normal(0, 1, (1800, 3))
    scores[np.arange(1800), gold] += 1.5
    probabilities = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    labels = [NAMES[place] for place in gold]
    rare = choose_multipliers(RARE, NAMES, labels, probabilities, np.array([0.96, 0.02, 0.02]))
    common = choose_multipliers(RARE, NAMES, labels, probabilities, np.array([0.2, 0.4, 0.4]))
    assert rare is not None
    assert rare[1] < 0.75 and rare[2] < 0.75
    assert common is None or common[1] > rare[1]


def test_label_without_votes_is_not_an_error() -> None:
    labels, probabilities = timid(400)
    kept = [row for row, label in enumerate(labels) if label != "sad"]
    factors = choose_multipliers(RARE, NAMES, [labels[row] for row in kept], probabilities[kept], PRIOR)
    assert factors is None or (factors.shape == (len(NAMES),) and bool(np.isfinite(factors).all()))


@pytest.mark.parametrize("wanted", [(1, 2.0, 0.5), (1, 0.4, 3.0), (1, 1.0, 1.0)])
def test_the_search_finds_the_step_nearest_to_the_best(wanted: tuple[float, ...]) -> None:
    found = _search(lambda tried: -float(np.abs(np.log(tried) - np.log(wanted)).sum()), 3)
    assert np.abs(np.log(found) - np.log(wanted)).max() <= 0.05 + 1e-9  # half a step of 0.1
    assert found[0] == 1


def test_the_search_looks_twice_as_labels_depend_on_each_other() -> None:
    """The best second number shows only once the third is set."""

    def score(tried: np.ndarray) -> float:
        return 10 * float(tried[2] > 1.5) + float(tried[1] > 1.5) * (1 if tried[2] > 1.5 else -1)

    assert (_search(score, 3)[1:] > 1.5).all()


def test_first_of_equal_scores_is_kept() -> None:
    assert _search(lambda _: 0.5, 4).tolist() == [1, 1, 1, 1]
