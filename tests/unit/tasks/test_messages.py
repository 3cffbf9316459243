"""Error messages for the tasks' files, word for word: which file, which row, what was expected."""

import json
from pathlib import Path
from typing import Any

import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.tasks import get_task
from emoscope.tasks.base import is_label_list
from emoscope.tasks.emotionx import is_emotionx, vote_string

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


def test_after_twenty_problems_the_rest_is_counted(tmp_path: Path) -> None:
    given = written(tmp_path / "given.csv", "\tso [#TRIGGERWORD#] today\n" * 30)
    mine = tmp_path / "mine.txt"
    for wrong, last in ((20, "row 20: unknown label 'glee'"), (21, "1 more"), (29, "9 more")):
        problems = IEST.check(written(mine, "glee\n" * wrong + "joy\n" * (30 - wrong)), given).warnings
        assert len(problems) == min(wrong, 21)
        assert last in problems[-1]
    assert problems[-1] == f"{mine}: and 9 more problems of this kind"
    found = IEST.check(written(mine, "glee\n" * 40), given)
    assert found.problems == [f"{mine}: has 40 labels, expected 30"]
    assert found.warnings[-1] == f"{mine}: and 20 more problems of this kind"
    assert IEST.verify(written(mine, "joy\n" * 3), given) == [
        f"{mine}: has 3 labels, expected 30; the file seems cut off"
    ]


def test_a_header_is_named_as_one(tmp_path: Path) -> None:
    given = written(tmp_path / "given.csv", "\tso [#TRIGGERWORD#] today\n" * 2)
    for header in ("label", "Labels", "emotion", "ID"):
        found = IEST.check(written(tmp_path / "mine.txt", f"{header}\njoy\n"), given)
        assert found.warnings == [f"{tmp_path / 'mine.txt'}, row 1: is a header, but this format has none"]


@pytest.mark.parametrize(
    ("first", "one_word"),
    [
        (b"joy\r\n", True),
        (b"x\n", True),
        (b"\xef\xbb\xbfjoy\n", True),
        (b"x" * 40, True),
        ("\u00e4".encode() * 40 + b"\r\n", True),
        (b"\xff\n", True),
        (b"x" * 41 + b"\n", False),
        (b"\njoy\n", False),
        (b"a joy\n", False),
        (b"0\tjoy\n", False),
        (b"joy\t\n", False),
        (b"[1,\n", False),
        (b'{"a":1}', False),
    ],
)
def test_a_list_of_labels_begins_with_one_word(first: bytes, one_word: bool, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_bytes(first)
    assert is_label_list(tmp_path / "mine.txt") is one_word


def test_a_line_without_a_label_in_a_list_is_named(tmp_path: Path) -> None:
    mine = written(tmp_path / "mine.txt", "happy\n\nsad\n")
    assert problem(mine, EMOCONTEXT.read_predictions) == "row 2: label is missing"


HEADER = "id\tturn1\tturn2\tturn3\tlabel\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (HEADER + "0\ta\tb\tc\n", "row 2: expected 5 tab-separated columns, found 4"),
        (HEADER + " \ta\tb\tc\tsad\n", "row 2: id is missing"),
        (HEADER + "0\ta\tb\tc\tsad\n1\ta\tb\tc\t \n", "row 3: label is missing"),
        (HEADER + "0\ta\tb\tc\tsad\n0\ta\tb\tc\tsad\n", "row 3: id '0' was used already"),
        (HEADER + "0\ta\tb\tc\tsda\n", "row 2: unknown label 'sda', expected one of "),
        (HEADER, "has a header but no rows"),
        (
            "id,turn1,turn2\tturn3\n",
            "row 1: expected the header 'id turn1 turn2 turn3 [label]' (tab-separated), found 'id,turn1,turn2 turn3'",
        ),
    ],
)
def test_emocontext_data(content: str, said: str, tmp_path: Path) -> None:
    assert problem(written(tmp_path / "train.txt", content), EMOCONTEXT.read).startswith(said)


def test_one_row_is_enough_for_emocontext_and_a_submission_needs_labels(tmp_path: Path) -> None:
    one = written(tmp_path / "one.txt", "id\tturn1\tturn2\tturn3\n0\ta\tb\tc\n")
    assert len(list(EMOCONTEXT.read(one))) == 1
    said = "row 1: has no 'label' column; a submission is the test file with one"
    assert problem(one, EMOCONTEXT.submitted) == said


def test_emotionx_files_are_lists_of_lists(tmp_path: Path) -> None:
    data = written(tmp_path / "friends.json", "\ufeff [\n [" + " " * 4000 + "{}]]")
    assert is_emotionx(data)
    assert not is_emotionx(written(tmp_path / "studio.json", [{"id": 1}]))
    assert not is_emotionx(written(tmp_path / "friends.txt", [[LINE]]))
    with pytest.raises(InputError, match="no such file"):
        is_emotionx(tmp_path / "none.json")
