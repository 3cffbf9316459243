"""Intervals and tests against theory, scipy and slow plain formulations."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import Floats, accuracy, macro_f1
from emoscope.core.significance import (
    Codes,
    bootstrap_interval,
    difference,
    percentile_interval,
    resampled_scores,
    wilcoxon,
    wilson_interval,
)
from kits.paired_bootstrap import paired_bootstrap


def two_systems(items: int, classes: int, seed: int = 0) -> tuple[Codes, Codes, Codes]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(classes, size=items)
    first = np.where(rng.random(items) < 0.6, gold, rng.integers(classes, size=items))
    second = np.where(rng.random(items) < 0.4, first, rng.integers(classes, size=items))
    return gold, first, second


def table_of(gold: Codes, predicted: Codes, classes: int) -> Codes:
    return np.bincount(gold * classes + predicted, minlength=classes**2).reshape(classes, classes)


# Intervals


def test_the_interval_of_accuracy_is_the_binomial_one() -> None:
    # 80 of 100 right: resampled accuracy is Binomial(100, 0.8) / 100.
    interval = bootstrap_interval(np.array([[50, 10], [10, 30]]), accuracy, samples=20_000)
    low, high = stats.binom.ppf([0.025, 0.975], 100, 0.8) / 100
    assert interval.low == pytest.approx(low, abs=0.0101)
    assert interval.high == pytest.approx(high, abs=0.0101)
    assert asdict(interval) == {"level": 0.95, "low": interval.low, "high": interval.high, "samples": 20_000}


def test_drawing_matrices_is_drawing_items() -> None:
    gold, first, _ = two_systems(300, 3)
    interval = bootstrap_interval(table_of(gold, first, 3), macro_f1, samples=4_000)
    rng = np.random.default_rng(1)
    scores = []
    for _ in range(4_000):
        chosen = rng.integers(300, size=300)
        scores.append(float(macro_f1(table_of(gold[chosen], first[chosen], 3))))
    expected = percentile_interval(np.array(scores), level=0.95)
    assert interval.low == pytest.approx(expected.low, abs=0.006)
    assert interval.high == pytest.approx(expected.high, abs=0.006)


def test_a_certain_score_has_a_point_for_an_interval() -> None:
    interval = bootstrap_interval(np.diag([3, 4]), accuracy, samples=50)
    assert (interval.low, interval.high) == (1, 1)


def test_the_seed_decides() -> None:
    table = np.array([[5, 3], [2, 6]])
    once = bootstrap_interval(table, macro_f1, samples=200, seed=1)
    assert once == bootstrap_interval(table, macro_f1, samples=200, seed=1)
    assert once == bootstrap_interval(table, macro_f1, samples=200, seed=np.random.default_rng(1))
    assert once != bootstrap_interval(table, macro_f1, samples=200, seed=2)


def test_a_wider_level_gives_a_wider_interval() -> None:
    table = np.array([[30, 10], [12, 28]])
    narrow = bootstrap_interval(table, accuracy, level=0.8, samples=2_000)
    wide = bootstrap_interval(table, accuracy, level=0.99, samples=2_000)
    assert wide.low < narrow.low < narrow.high < wide.high


# Resampling several systems at once


@pytest.mark.parametrize("items", [40, 30_000])  # few items are drawn one by one, many by the cell
def test_joint_resampling_has_the_right_mean_and_spread(items: int) -> None:
    gold, first, second = two_systems(items, 2)
    drawn = resampled_scores(gold, [first, second], classes=2, metric=accuracy, samples=3_000)
    hits = np.stack([first == gold, second == gold]).astype(float)
    # The mean of resampled means is the mean; their covariance is that of the items divided by their number.
    spread = np.cov(hits, bias=True) / items
    assert drawn.mean(1) == pytest.approx(hits.mean(1), abs=4 * np.sqrt(spread.max() / 3_000))
    assert np.cov(drawn) == pytest.approx(spread, rel=0.12, abs=0.12 * spread.max())


def test_every_draw_is_a_resampling_of_whole_items() -> None:
    gold, first, second = two_systems(60, 3)
    seen: list[Codes] = []

    def watched(tables: Codes) -> Codes:
        seen.append(tables)
        return accuracy(tables)

    resampled_scores(gold, [first, second], classes=3, metric=watched, samples=20)
    tables = np.concatenate(seen)
    assert tables.shape == (20, 2, 3, 3)
    assert (tables.sum((-2, -1)) == 60).all()
    # Both systems see the same items, so the same gold labels.
    assert (tables[:, 0].sum(-1) == tables[:, 1].sum(-1)).all()
    assert (tables == np.rint(tables)).all()


@pytest.mark.parametrize("items", [40, 3_000])  # drawn one by one, and by the cell
def test_drawing_in_several_steps_is_drawing_at_once(items: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gold, first, second = two_systems(items, 2)
    steps: list[int] = []

    def drawn(samples: int) -> Floats:
        systems = [first, second]
        return resampled_scores(gold, systems, classes=2, metric=accuracy, samples=samples, advance=steps.append)

    at_once = drawn(10)
    monkeypatch.setattr("emoscope.core.significance._CHUNK", 8 * 3)  # three draws of two systems' eight cells
    assert drawn(10).tolist() == at_once.tolist()
    assert steps == [10, 3, 3, 3, 1]


def test_progress_adds_up_to_the_samples() -> None:
    gold, first, second = two_systems(500, 2)
    steps: list[int] = []
    resampled_scores(gold, [first, second], classes=2, metric=accuracy, samples=321, advance=steps.append)
    assert sum(steps) == 321


# The paired bootstrap


def test_the_p_value_by_hand() -> None:
    # Observed 0.02; at least 0.02 away from it lie 0.0, -0.01 and 0.05: (3 + 1) / (5 + 1).
    found = difference(0.02, np.array([0.0, 0.01, 0.03, 0.05, -0.01]))
    assert found.p_value == pytest.approx(4 / 6)
    assert found.observed == 0.02


def test_equal_systems_do_not_differ_and_opposite_ones_do() -> None:
    gold, first, _ = two_systems(400, 2)
    same = paired_bootstrap(gold, first, first, classes=2, metric=accuracy, samples=500)
    assert (same.observed, same.p_value, same.interval.low, same.interval.high) == (0, 1, 0, 0)
    other = paired_bootstrap(gold, gold, 1 - gold, classes=2, metric=accuracy, samples=500)
    assert (other.observed, other.p_value) == (1, 1 / 501)


def test_the_paired_p_value_is_near_the_normal_one() -> None:
    gold, first, second = two_systems(2_000, 3, seed=5)
    second = np.where(np.arange(2_000) < 1_900, first, second)
    gain = (first == gold).astype(float) - (second == gold)
    z = gain.mean() / (gain.std() / np.sqrt(len(gain)))
    found = paired_bootstrap(gold, first, second, classes=3, metric=accuracy)
    assert found.observed == pytest.approx(gain.mean())
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.02)


def test_swapping_the_systems_turns_the_sign() -> None:
    gold, first, second = two_systems(300, 3)
    there = paired_bootstrap(gold, first, second, classes=3, metric=macro_f1, samples=999, seed=3)
    back = paired_bootstrap(gold, second, first, classes=3, metric=macro_f1, samples=999, seed=3)
    assert there.observed == pytest.approx(-back.observed)
    assert there.interval.low <= there.observed <= there.interval.high


class NoItemDraws(np.random.Generator):
    def integers(self, *_: object, **__: object) -> None:  # type: ignore[override]
        raise AssertionError("items were drawn one by one")


def test_a_large_test_set_is_resampled_by_cell_and_not_item_by_item() -> None:
    gold, first, second = two_systems(28_757, 6)
    seed = NoItemDraws(np.random.PCG64(0))
    paired_bootstrap(gold, first, second, classes=6, metric=macro_f1, samples=100, seed=seed)
    with pytest.raises(AssertionError, match="one by one"):
        paired_bootstrap(gold[:50], first[:50], second[:50], classes=6, metric=macro_f1, samples=100, seed=seed)


# Wilcoxon's signed-rank test


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=80))
def test_with_ties_it_is_scipys_normal_approximation(values: list[int]) -> None:
    used = [value for value in values if value]
    if len({abs(value) for value in used}) < len(used):
        expected = stats.wilcoxon(values, zero_method="wilcox", correction=False, method="asymptotic").pvalue
        assert wilcoxon(values) == pytest.approx(expected)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=50, unique=True), st.data())
def test_without_ties_it_is_scipys_exact_one(sizes: list[int], data: st.DataObject) -> None:
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    values = [size * sign for size, sign in zip(sizes, signs, strict=True)]
    assert wilcoxon(values) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue)


def test_many_pairs_without_ties_use_the_normal_approximation() -> None:
    values = np.random.default_rng(0).normal(0.2, 1, size=200)
    assert wilcoxon(values) == pytest.approx(stats.wilcoxon(values, method="asymptotic").pvalue)


def test_on_right_or_wrong_it_is_the_sign_test() -> None:
    # 30 items only the first gets right, 10 only the second: z = (30 - 10) / sqrt(40).
    values = [1] * 30 + [-1] * 10 + [0] * 500
    assert wilcoxon(values) == pytest.approx(2 * stats.norm.sf(20 / np.sqrt(40)))


def test_no_difference_is_no_evidence() -> None:
    assert wilcoxon([]) == wilcoxon([0, 0, 0]) == 1


# Mistakes


@pytest.mark.parametrize("level", [0, 1, 95])
def test_impossible_level_is_reported(level: float) -> None:
    with pytest.raises(EmoscopeError, match="confidence level must lie between 0 and 1"):
        bootstrap_interval(np.eye(2), accuracy, level=level, samples=5)


def test_nothing_to_resample_is_reported() -> None:
    with pytest.raises(EmoscopeError, match="no items"):
        bootstrap_interval(np.zeros((2, 2)), accuracy)
    with pytest.raises(EmoscopeError, match="at least 1, not 0"):
        bootstrap_interval(np.eye(2), accuracy, samples=0)
    none = np.array([], np.int64)
    with pytest.raises(EmoscopeError, match="one prediction for each"):
        resampled_scores(none, [none], classes=2, metric=accuracy)


def test_wilson_intervals_are_those_of_the_book() -> None:
    low, high = wilson_interval(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)  # Newcombe 1998, table I
    assert wilson_interval(0, 20)[0] == 0
    assert wilson_interval(0, 20)[1] == pytest.approx(0.1611, abs=1e-4)
    assert wilson_interval(20, 20)[1] == 1
    assert wilson_interval(1, 29)[0] == pytest.approx(0.0061, abs=1e-4)
    assert wilson_interval(0, 0) == (0.0, 1.0)
    narrow = wilson_interval(81, 263, level=0.5)
    assert low < narrow[0] < narrow[1] < high
    with pytest.raises(EmoscopeError, match="confidence level"):
        wilson_interval(1, 2, level=1.0)
