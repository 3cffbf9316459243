"""Kinds of wording, and parts of the data."""

import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.evaluation.slices import SLICES, has_dialect, has_irony, has_negation, is_code_mixed


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


def test_every_slice_of_two_names_its_group_first() -> None:
    examples = [
        Example(Dialogue.of([text]), 0) for text in ("word " * 31, "no", "oh great", "innit", "hola", "😂", "x")
    ]
    for name, position in zip(("long", "negation", "irony", "dialect", "code-mixed", "emoji"), range(6), strict=True):
        chosen = SLICES[name]
        assert chosen.positions(examples)[chosen.groups[0]] == [position]


def test_long_input_counts_the_turns_before_and_none_after() -> None:
    dialogue = Dialogue.of(["word " * 20, "word " * 11, "word " * 50])
    slice_ = SLICES["long"]
    assert [slice_.group_of(Example(dialogue, turn)) for turn in range(3)] == [
        "no long input",
        "long input",
        "long input",
    ]
