"""The 84 hand-written checks of behaviour."""

from collections import Counter

import pytest

import emoscope
from emoscope.core.dialogue import Example
from emoscope.evaluation.behaviour.cases import EMOTIONS, labels_for
from emoscope.evaluation.slices import SLICES, has_negation

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.quality.behaviour import KINDS, read_checks, run_checks


def test_checks_are_well_formed_and_cover_each_kind() -> None:
    checks = read_checks()
    kinds = Counter(check.kind for check in checks)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 8
    assert len({check.dialogues for check in checks}) == len(checks) == 84
    for check in checks:
        assert labels_for(check.emotions, EMOTIONS) == set(check.emotions)
        assert check.applies(("others", "happy", "sad", "angry"))


def test_the_checks_hold_what_they_are_about() -> None:
    found = {name: [check for check in read_checks() if check.kind == name] for name in ("negation", "emoji", "long")}
    assert all(has_negation(check.dialogues[0].texts[-1]) for check in found["negation"])
    by_emoji, by_long = SLICES["emoji"], SLICES["long"]
    for check in found["emoji"]:
        assert by_emoji.group_of(Example(check.dialogues[0], len(check.dialogues[0]) - 1)) == "emoji"
    for check in found["long"]:
        assert by_long.group_of(Example(check.dialogues[0], len(check.dialogues[0]) - 1)) == "long input"


@pytest.mark.parametrize(
    ("emotions", "labels", "expected"),
    [
        (("joy",), ("others", "happy", "sad", "angry"), {"happy"}),
        (("fear",), ("others", "happy", "sad", "angry"), {"others"}),
        (("neutral", "joy"), ("neutral", "joy", "sadness", "anger"), {"neutral", "joy"}),
        (("fear",), ("neutral", "joy", "sadness", "anger"), set()),
    ],
)
def test_expected_answers_in_other_labels(
    emotions: tuple[str, ...], labels: tuple[str, ...], expected: set[str]
) -> None:
    assert labels_for(emotions, labels) == expected


def test_running_the_checks() -> None:
    figures = run_checks(emoscope.load("nano"))
    assert [figure.kind for figure in figures] == list(KINDS)
    assert sum(figure.n for figure in figures) == len(read_checks())
    assert all(0 <= figure.right <= figure.n for figure in figures)
    assert sum(figure.right for figure in figures) > 0
