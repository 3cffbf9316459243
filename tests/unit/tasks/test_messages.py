"""Error messages for the tasks' files, word for word: which file, which row, what was expected."""

import json
from pathlib import Path
from typing import Any

import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.tasks import get_task
from emoscope.tasks.emotionx import vote_string

FRIENDS, EMOCONTEXT, IEST = get_task("emotionx-friends"), get_task("emocontext"), get_task("iest")
LINE = {"speaker": "A", "utterance": "hi", "emotion": "joy"}
AUTHOR = {"name": "Ann", "email": "ann@example.org"}
LABELS = "anger, disgust, fear, joy, neutral, non-neutral, sadness, surprise"


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def problem(path: Path, read: Any) -> str:
    """The message without the file, with which it begins."""
    with pytest.raises(InputError) as refused:
        list(read(path))
    assert str(refused.value).startswith(str(path))
    return str(refused.value).removeprefix(str(path)).lstrip(":, ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([AUTHOR, [[LINE]]], "is a submission (author and dialogues), expected a data file"),
        ([], "holds no dialogues"),
        ([[LINE], {"a": 1}], "dialogue 2: expected a list of utterances, found dict"),
        ([[]], "dialogue 1: has no utterances"),
        ([[LINE, 3]], "dialogue 1, line 2: expected an object, found int"),
        ([[LINE, {"speaker": "A"}]], "dialogue 1, line 2: 'utterance' is missing or not a string"),
        ([[{**LINE, "speaker": 3}]], "dialogue 1, line 1: 'speaker' is missing or not a string"),
        ([[{**LINE, "annotation": "12"}]], "dialogue 1, line 1: 'annotation' must be 7 digits, found '12'"),
        ([[{**LINE, "annotation": "20000x0"}]], "dialogue 1, line 1: 'annotation' must be 7 digits, found '20000x0'"),
        ([[{**LINE, "utterance_de": 3}]], "dialogue 1, line 1: 'utterance_de' must be a string"),
    ],
)
def test_emotionx_data(content: Any, said: str, tmp_path: Path) -> None:
    assert problem(written(tmp_path / "friends.json", content), FRIENDS.read) == said


def test_unknown_emotion_is_reported_with_the_known_ones(tmp_path: Path) -> None:
    path = written(tmp_path / "friends.json", [[LINE], [LINE, {**LINE, "emotion": "glee"}]])
    said = problem(path, FRIENDS.read)
    assert said.startswith("dialogue 2, line 2: unknown emotion 'glee', expected one of ")
    assert sorted(said.partition("one of ")[2].split(", ")) == LABELS.split(", ")


def test_what_is_read_of_emotionx(tmp_path: Path) -> None:
    rich = {**LINE, "annotation": "2000030", "utterance_de": "hallo", "utterance_fr": "salut"}
    first, second = FRIENDS.read(written(tmp_path / "friends.json", [[LINE], [rich]]))
    assert (first.dialogue.id, second.dialogue.id) == ("0", "1")
    assert first.votes == {} and first.variants == {}
    assert {label: count for label, count in second.votes.items() if count} == {"neutral": 2, "surprise": 3}
    assert second.variants == {"de": "hallo", "fr": "salut"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([AUTHOR], "expected a list of two items: {name, email} and the dialogues"),
        ([[], [[LINE]]], "expected a list of two items: {name, email} and the dialogues"),
        ([AUTHOR, {"a": 1}], "expected a list of two items: {name, email} and the dialogues"),
        ([{"name": "Ann"}, [[LINE]]], "the first item must give the author's 'email'"),
        ([AUTHOR, [[{**LINE, "emotion": 3}]]], "dialogue 1, line 1: 'emotion' must be a string, not int"),
        ([AUTHOR, [[LINE], [LINE, 3]]], "dialogue 2, line 2: expected an object, found int"),
        ("\ufeff" + json.dumps([AUTHOR, [[LINE]]]), "begins with a byte-order mark, which the official scorer refuses"),
    ],
)
def test_emotionx_submissions(content: Any, said: str, tmp_path: Path) -> None:
    assert problem(written(tmp_path / "mine.json", content), FRIENDS.submitted) == said


def test_emotionx_submission_has_whole_dialogues(tmp_path: Path) -> None:
    dialogue = Dialogue.of(["hi", "hello"])
    examples = [Example(dialogue, 0), Example(dialogue, 1)]
    FRIENDS.write_submission(tmp_path / "mine.json", examples, ["joy", "neutral"], author={"name": "Ann"})
    who, dialogues = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    assert who == {"name": "Ann", "email": ""}
    assert [line["emotion"] for line in dialogues[0]] == ["joy", "neutral"]
    for wrong in (examples[1:], [examples[0], examples[0], examples[1], examples[1]]):
        with pytest.raises(EmoscopeError, match=r"^a submission needs every utterance of every dialogue, in order$"):
            FRIENDS.write_submission(tmp_path / "mine.json", wrong, ["joy"] * len(wrong))
    with pytest.raises(EmoscopeError, match="1 labels for 2 examples"):
        FRIENDS.write_submission(tmp_path / "mine.json", examples, ["joy"])


def test_vote_strings() -> None:
    assert vote_string({"neutral": 2, "surprise": 3, "disgust": 9}) == "2000039"
    assert vote_string({}) == "0000000"
    with pytest.raises(EmoscopeError, match="has no place for 'awe'; its labels are neutral, joy, sadness, fear"):
        vote_string({"joy": 1, "awe": 1})
    with pytest.raises(EmoscopeError, match="one digit a label, and 10 votes do not fit"):
        vote_string({"joy": 10, "fear": 1})


@pytest.mark.parametrize("text", ["a\tb", "a\nb"])
def test_a_turn_that_would_break_the_row_is_refused(text: str, tmp_path: Path) -> None:
    example = Example(Dialogue.of(["hi", text, "ok"]), 2)
    with pytest.raises(EmoscopeError, match="a turn holds a tab or line break; this format cannot"):
        EMOCONTEXT.write_submission(tmp_path / "test.txt", [example], ["happy"])


def test_predictions_are_compared_item_by_item(tmp_path: Path) -> None:
    gold = list(FRIENDS.read(written(tmp_path / "gold.json", [[LINE, {**LINE, "utterance": "bye"}]])))

    def read(entries: list[dict[str, Any]]) -> Any:
        return lambda path: FRIENDS.read_predictions(written(path, [AUTHOR, [entries]]), gold)

    mine = tmp_path / "mine.json"
    assert problem(mine, read([LINE])) == "has 1 labels, expected 2"
    other = [LINE, {**LINE, "utterance": "ciao"}]
    assert problem(mine, read(other)) == ("dialogue 1, line 2: is not the same item as in the gold file")
    missing = [LINE, {"speaker": "A", "utterance": "bye"}]
    assert problem(mine, read(missing)) == "dialogue 1, line 2: label is missing"
    assert FRIENDS.read_predictions(written(mine, [AUTHOR, [[LINE]]])) == ["joy"]


def test_a_long_unknown_label_is_cut(tmp_path: Path) -> None:
    for length, shown in ((40, "x" * 40), (41, "x" * 37 + "...")):
        with pytest.raises(InputError) as refused:
            IEST.check_label("x" * length, tmp_path / "iest.csv", 3)
        assert f"'{shown}'" in str(refused.value)
        assert str(refused.value).startswith(f"{tmp_path / 'iest.csv'}, row 3: ")


def test_iest_rows_keep_their_tabs_and_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "train.csv", "joy\tso [#TRIGGERWORD#]\tand more\nsad\tI was [#TRIGGERWORD#] then\n")
    first, second = IEST.read(path)
    assert first.text == "so [#TRIGGERWORD#]\tand more"
    assert (first.dialogue.id, second.dialogue.id) == ("0", "1")
    bad = written(tmp_path / "bad.csv", "joy\tso [#TRIGGERWORD#]\nonly one column\n")
    assert "expected 2 tab-separated columns, found 1" in problem(bad, IEST.read)
