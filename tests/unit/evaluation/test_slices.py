"""Kinds of wording, and the hand-written checks."""

from collections import Counter

import pytest

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.evaluation.behaviour import KINDS, BehaviourCheck, read_checks, run_checks
from emoscope.evaluation.measure import CARD_SLICES
from emoscope.evaluation.phenomena import has_dialect, has_irony, has_negation, is_code_mixed
from emoscope.evaluation.slices import SLICES

EKMAN = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don’t know", True),
        ("never again", True),
        ("NOT now", True),
        ("it cant be", True),
        ("a knot, a note, another", False),
        ("", False),
    ],
)
def test_negation(text: str, expected: bool) -> None:
    assert has_negation(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Oh great, another flat tyre", True),
        ("yeah right", True),
        ("Yeah, right.", True),
        ("thanks for nothing!", True),
        ("he is a genius /s", True),
        ("sure 🙄", True),
        ("how nice to see you", False),
        ("you are right", False),
        ("we had a great day", False),
        ("thanks so much", False),
    ],
)
def test_irony(text: str, expected: bool) -> None:
    assert has_irony(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm well chuffed", True),
        ("cannae be bothered", True),
        ("y’all come back", True),
        ("well done", False),
        ("that is grand", False),
    ],
)
def test_dialect(text: str, expected: bool) -> None:
    assert has_dialect(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mujhe bahut gussa aa raha hai", True),
        ("I am so feliz", True),
        ("love you यार", True),
        ("привет my friend", True),
        ("a café with naïve people", False),
        ("do me a favor 😂👍🏽", False),
        ("mere beta soy", False),
    ],
)
def test_code_mixing(text: str, expected: bool) -> None:
    assert is_code_mixed(text) is expected


def test_every_slice_of_the_card_names_its_group_first() -> None:
    examples = [
        Example(Dialogue.of([text]), 0) for text in ("word " * 31, "no", "oh great", "innit", "hola", "😂", "x")
    ]
    for name, position in zip(("long", "negation", "irony", "dialect", "code-mixed", "emoji"), range(6), strict=True):
        chosen = SLICES[name]
        assert chosen.positions(examples)[chosen.groups[0]] == [position]
        assert name in CARD_SLICES


def test_long_input_counts_the_turns_before_and_none_after() -> None:
    dialogue = Dialogue.of(["word " * 20, "word " * 11, "word " * 50])
    slice_ = SLICES["long"]
    assert [slice_.group_of(Example(dialogue, turn)) for turn in range(3)] == [
        "no long input",
        "long input",
        "long input",
    ]


# Hand-written checks


def test_the_checks_are_well_formed_and_enough_of_each_kind() -> None:
    checks = read_checks()
    kinds = Counter(check.kind for check in checks)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 8
    assert len({check.dialogue for check in checks}) == len(checks)
    for check in checks:
        assert set(check.emotions) <= set(EKMAN)
        assert check.expected(EKMAN) == set(check.emotions)
        assert check.expected(("others", "happy", "sad", "angry"))


def test_the_checks_hold_what_they_are_about() -> None:
    found = {name: [check for check in read_checks() if check.kind == name] for name in ("negation", "emoji", "long")}
    assert all(has_negation(check.dialogue.texts[-1]) for check in found["negation"])
    by_emoji, by_long = SLICES["emoji"], SLICES["long"]
    for check in found["emoji"]:
        assert by_emoji.group_of(Example(check.dialogue, len(check.dialogue) - 1)) == "emoji"
    for check in found["long"]:
        assert by_long.group_of(Example(check.dialogue, len(check.dialogue) - 1)) == "long input"


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
    assert BehaviourCheck("irony", Dialogue.of(["hm"]), emotions).expected(labels) == expected


def test_running_the_checks() -> None:
    figures = run_checks(emoscope.load("nano"))
    assert [figure.kind for figure in figures] == list(KINDS)
    assert sum(figure.n for figure in figures) == len(read_checks())
    assert all(0 <= figure.right <= figure.n for figure in figures)
    assert sum(figure.right for figure in figures) > 0
