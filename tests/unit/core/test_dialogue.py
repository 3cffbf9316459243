"""Turns, dialogues, examples and detections: what they take, and what they refuse."""

import pickle
from typing import Any

import pytest

from emoscope.core.dialogue import Detection, Dialogue, Example, Turn, is_instruction, texts_alone
from emoscope.core.errors import EmoscopeError

THREE = Dialogue.of(["hi", "hello", "I lost my keys"], id="d-1")


def problem_of(*arguments: Any, make: Any) -> str:
    with pytest.raises(EmoscopeError) as caught:
        make(*arguments)
    return str(caught.value)


def test_examples_and_detections_can_be_sent_to_another_process() -> None:
    example = Example(Dialogue.of(["hi", "hello"]), turn=1)
    assert pickle.loads(pickle.dumps(example)) == example
    detection = Detection("sad", {"sad": 0.75, "others": 0.25})
    assert pickle.loads(pickle.dumps(detection)) == detection


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        ((3,), "a turn's text must be a string, not int"),
        (("\ud83d",), "a turn's text holds half of a surrogate pair, which is not text"),
        (("hi", 7), "a turn's speaker must be a string, not int"),
    ],
)
def test_what_is_no_turn_is_refused(turn: tuple[Any, ...], problem: str) -> None:
    assert problem_of(*turn, make=Turn) == problem


def test_any_other_text_is_a_turn() -> None:
    assert [Turn(text).text for text in ("", "😂", "ä")] == ["", "😂", "ä"]


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        ([Turn("hi")], "a dialogue's turns must be a tuple of Turn; Dialogue.of() takes strings too"),
        ((Turn("hi"), "hello"), "a dialogue's turns must be a tuple of Turn; Dialogue.of() takes strings too"),
        ((), "a dialogue needs at least one turn"),
    ],
)
def test_a_dialogue_is_a_tuple_of_turns(turns: Any, problem: str) -> None:
    assert problem_of(turns, make=Dialogue) == problem


@pytest.mark.parametrize(
    "turns",
    ["hi", Turn("hi"), {"text": "hi"}, ["hi"], ("hi",), [Turn("hi")], [{"text": "hi"}], {"hi": 1}.keys()],
)
def test_a_dialogue_of_one_turn(turns: Any) -> None:
    assert Dialogue.of(turns, id="d-1") == Dialogue((Turn("hi"),), "d-1")


def test_a_dialogue_stays_itself() -> None:
    assert Dialogue.of(THREE, id="other") is THREE


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        (b"hi", "a dialogue is a text or a list of turns, not bytes"),
        ({"hi"}, "a dialogue is a text or a list of turns, not set"),
        (frozenset(["hi"]), "a dialogue is a text or a list of turns, not frozenset"),
        (7, "a dialogue is a text or a list of turns, not int"),
        ([], "a dialogue needs at least one turn"),
        (["hi", 7], "turn 2: expected a string, not int"),
        ([{"speaker": "A"}], "turn 1: expected keys 'text' and, if known, 'speaker', or 'role' and 'content'; found"),
        ([{}], "or 'role' and 'content'; found none"),
        ([{"text": "hi", "mood": 1, "x": 2}], "or 'role' and 'content'; found text, mood, x"),
        ([{"text": "hi", "mood": 1, 2: 3}], "or 'role' and 'content'; found text, mood, 2"),
        ([{"role": "user"}], "or 'role' and 'content'; found role"),
        ([{"content": "hi"}], "or 'role' and 'content'; found content"),
        ([{"role": "system", "content": "x"}, {"role": "user", "content": 7}], "turn 2: expected 'content' as text"),
        ([{"role": "user", "content": {"text": "hi"}}], "turn 1: expected 'content' as text, not dict"),
    ],
)
def test_what_is_no_dialogue_is_refused(turns: Any, problem: str) -> None:
    assert problem in problem_of(turns, make=Dialogue.of)


@pytest.mark.parametrize("role", ["system", "developer", "tool"])
def test_messages_to_the_model_are_no_turns(role: str) -> None:
    said = [{"role": role, "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert Dialogue.of(said).turns == (Turn("hi", "user"),)
    assert is_instruction(said[0])
    assert not is_instruction({"role": role, "text": "hi"})
    assert not is_instruction({"role": "assistant", "content": "hi"})
    assert not is_instruction(role)


def test_a_message_in_parts_is_its_texts() -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": "x"}, "here"]
    assert Dialogue.of([{"role": "user", "content": parts}]).texts == ("look\nhere",)
    assert Dialogue.of([{"role": "assistant", "content": None}]).texts == ("",)
    assert Dialogue.of([{"text": "hi", "speaker": "A"}]).turns == (Turn("hi", "A"),)


def test_a_dialogue_up_to_a_turn() -> None:
    assert THREE.upto(0) == Dialogue((Turn("hi"),), "d-1")
    assert THREE.upto(1).texts == ("hi", "hello")
    assert THREE.upto(2) is THREE
    for turn in (-1, 3):
        assert problem_of(turn, make=THREE.upto) == f"a dialogue of 3 turns has no turn {turn}"


def test_texts_alone_are_lists_of_strings() -> None:
    assert texts_alone(["hi", ["hi", "ä"], ("hello",)]) == [["hi"], ["hi", "ä"], ("hello",)]
    for other in ([[]], [["hi"], []], [["hi", Turn("a")]], [Turn("hi")], [["hi", 7]], ["\ud83d"], [{"hi"}]):
        assert texts_alone(other) is None  # type: ignore[arg-type]


def test_an_example_is_a_turn_of_its_dialogue() -> None:
    first, last = Example(THREE, 0), Example.last(THREE)
    assert (first.text, first.context.texts) == ("hi", ("hi",))
    assert (last.turn, last.text, last.context) == (2, "I lost my keys", THREE)
    assert first.family == THREE.texts
    assert Example(Dialogue.of("changed"), 0, origin=THREE).family == THREE.texts
    assert (dict(first.votes), dict(first.variants)) == ({}, {})
    for turn in (-1, 3):
        assert problem_of(THREE, turn, make=Example) == f"a dialogue of 3 turns has no turn {turn}"


@pytest.mark.parametrize("score", [-0.001, 1.001, float("nan")])
def test_a_score_is_a_probability(score: float) -> None:
    assert problem_of("sad", {"sad": score}, make=Detection) == "scores must lie between 0 and 1"
    assert problem_of("sad", {"others": 0.5, "sad": score}, make=Detection) == "scores must lie between 0 and 1"
    assert Detection("sad", {"sad": 1.0, "others": 0.0}).score == 1.0


def test_a_label_needs_a_score_unless_there_is_none() -> None:
    assert problem_of("glad", {"sad": 1.0}, make=Detection) == "label 'glad' has no score"
    assert Detection(None, {"sad": 0.4, "others": 0.6}).score == 0.6


def test_scores_cannot_be_changed() -> None:
    given = {"sad": 0.75, "others": 0.25}
    detection = Detection("sad", given)
    given["sad"] = 0.0
    assert dict(detection.scores) == {"sad": 0.75, "others": 0.25}
    with pytest.raises(TypeError):
        detection.scores["sad"] = 0.0  # type: ignore[index]


def test_an_unchecked_detection_is_the_same() -> None:
    made = Detection.unchecked("sad", {"sad": 0.75, "others": 0.25}, True, "cut")
    assert made == Detection("sad", {"sad": 0.75, "others": 0.25}, True, "cut")
    assert made.as_dict() == {
        "label": "sad",
        "scores": {"sad": 0.75, "others": 0.25},
        "truncated": True,
        "note": "cut",
    }
    with pytest.raises(TypeError):
        made.scores["sad"] = 0.0  # type: ignore[index]


def test_how_a_detection_is_shown() -> None:
    scores = {"others": 0.25, "sad": 0.75}
    assert repr(Detection("sad", scores)) == "Detection('sad', {'sad': 0.750, 'others': 0.250})"
    shown = "Detection(None, {'sad': 0.750, 'others': 0.250}, truncated=True, note='cut')"
    assert repr(Detection(None, scores, True, "cut")) == shown
    assert "sad" in Detection("sad", scores)._repr_html_()
