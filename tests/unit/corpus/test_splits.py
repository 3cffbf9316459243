"""Splits: nothing that belongs together is parted, evaluation is natural, training has more of what is rare."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.dedupe.duplicates import DuplicateFinder, comparable
from emoscope.corpus.dedupe.minhash import jaccard, shingles
from emoscope.corpus.splits import Split, assign, join_groups, repeats

rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 15), st.booleans()), min_size=1, max_size=120)


@given(size=st.integers(1, 30), data=st.data())
def test_groups_are_the_connected_rows(size: int, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=40))
    groups = join_groups(size, pairs)
    # The slow way: colour each row, and recolour until no pair differs.
    colours = list(range(size))
    while any(colours[one] != colours[other] for one, other in pairs):
        for one, other in pairs:
            colours[one] = colours[other] = min(colours[one], colours[other])
    assert groups.tolist() == colours


@given(rows=rows, dev=st.floats(0, 0.45), test=st.floats(0, 0.45), seed=st.integers(0, 100))
def test_nothing_is_parted(rows: list[tuple[int, int, bool]], dev: float, test: float, seed: int) -> None:
    labels, groups, natural = map(list, zip(*rows, strict=True))
    parts = assign(labels, groups, natural, dev=dev, test=test, seed=seed)
    where: defaultdict[int, set[int]] = defaultdict(set)
    for group, random, part in zip(groups, natural, parts.tolist(), strict=True):
        # Only what was drawn at random may be evaluated on, and what is tied to it is trained on nowhere.
        assert random or part in (Split.TRAIN, Split.LEAK)
        assert not random or part != Split.LEAK
        where[group].add(part)
    for found in where.values():
        assert len(found - {Split.LEAK}) <= 1
        assert Split.LEAK not in found or found & {Split.DEV, Split.TEST}
    again = assign(labels, groups, natural, dev=dev, test=test, seed=seed)
    assert parts.tolist() == again.tolist()


@settings(max_examples=30)
@given(counts=st.lists(st.integers(0, 300), min_size=2, max_size=5), seed=st.integers(0, 20))
def test_evaluation_has_the_natural_mix(counts: list[int], seed: int) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    parts = assign(labels, range(len(labels)), [True] * len(labels), dev=0.1, test=0.2, seed=seed)
    for share, part in ((0.1, Split.DEV), (0.2, Split.TEST)):
        got = np.bincount(labels[parts == part], minlength=len(counts))
        assert np.all(np.abs(got - share * np.array(counts)) <= 1.0 + 1e-6)
        assert abs(got.sum() - share * sum(counts)) <= 0.5 + 1e-6


def test_a_group_too_large_for_an_evaluation_set_is_trained_on() -> None:
    parts = assign([0] * 60 + [1] * 40, [0] * 60 + list(range(1, 41)), [True] * 100, dev=0.1, test=0.2, seed=1)
    assert set(parts[:60].tolist()) == {Split.TRAIN}
    assert np.bincount(parts, minlength=3).tolist()[1:] == [10, 20]


def test_shares_that_leave_nothing() -> None:
    with pytest.raises(EmoscopeError, match="leave something for train"):
        assign([0], [0], [True], dev=0.5, test=0.5, seed=1)


@given(
    labels=st.lists(st.integers(0, 3), max_size=60),
    share=st.floats(0, 1),
    seed=st.integers(0, 20),
)
def test_rare_labels_are_repeated(labels: list[int], share: float, seed: int) -> None:
    times = repeats(labels, share, seed=seed)
    got = np.bincount(labels, weights=times, minlength=4).astype(int) if labels else np.zeros(4, int)
    had = np.bincount(labels, minlength=4)
    wanted = int(np.ceil(share * had.max(initial=0)))
    for label in range(4):
        assert got[label] == (max(had[label], wanted) if had[label] else 0)
        own = [int(time) for time, one in zip(times, labels, strict=True) if one == label]
        assert not own or max(own) - min(own) <= 1


WORDS = ["tea", "pot", "cup", "lid", "honey", "lemon"]
texts = st.lists(st.sampled_from(WORDS), min_size=3, max_size=8).map(" ".join)


@settings(max_examples=60)
@given(items=st.lists(st.lists(texts, min_size=1, max_size=2), min_size=1, max_size=12))
def test_related_ties_every_two_copies(items: list[list[str]]) -> None:
    finder = DuplicateFinder(threshold=0.8)
    for number, wordings in enumerate(items):
        for text in wordings:
            finder.add(number, text)
    groups = join_groups(len(items), finder.related())
    for one, mine in enumerate(items):
        for other, theirs in enumerate(items[:one]):
            alike = max(
                jaccard(shingles(comparable(text)), shingles(comparable(second))) for text in mine for second in theirs
            )
            # MinHash finds all but a few in a thousand of those at the threshold; well above it, all.
            if alike >= 0.95:
                assert groups[one] == groups[other]
