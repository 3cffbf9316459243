"""The contract of every registered task, on small files."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from emoscope.cli.app import app
from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.metrics import standard_metric
from emoscope.tasks import TASKS, get_task
from emoscope.tasks.base import Task
from emoscope.tasks.data import check_files, read_split
from emoscope.tasks.metadata import DataFile


def unlabelled(task: Task, folder: Path) -> Path:
    """The task's own sample: a file of items to label in its format."""
    path = folder / "unlabelled"
    path.write_text(task.sample, encoding="utf-8")
    return path


@pytest.fixture(params=list(TASKS))
def task(request: pytest.FixtureRequest) -> Task:
    return get_task(request.param)


def answers(task: Task, items: int = 3) -> list[str]:
    return [task.labels[index % len(task.labels)] for index in range(items)]


def submission(task: Task, folder: Path) -> tuple[Path, Path]:
    source = unlabelled(task, folder)
    target = folder / "submission"
    task.write_submission(target, list(task.read(source)), answers(task), {"name": "A", "email": "a@example.org"})
    return source, target


def test_the_shared_tasks_are_registered() -> None:
    assert {"emocontext", "emotionx-friends", "emotionx-push", "iest"} <= set(TASKS)


def test_an_unknown_task_gets_a_suggestion() -> None:
    with pytest.raises(EmoscopeError, match="no task named 'emocontxt'; did you mean 'emocontext'"):
        get_task("emocontxt")


def test_metadata_is_complete(task: Task) -> None:
    meta = task.metadata
    assert meta.name == task.name
    assert meta.citation
    assert meta.terms
    assert meta.home.startswith("http")
    assert {"train", "test"} <= set(meta.splits)
    assert all(file.name and file.examples for revision in meta.revisions for file in revision.splits.values())
    assert meta.data_format
    assert meta.submission_format
    # Some revision can be had whole by download.
    assert any(
        {file.name for file in revision.splits.values()}
        <= {name for download in revision.downloads for name in download.saves}
        for revision in meta.revisions
    )


def test_reads_three_examples(task: Task, tmp_path: Path) -> None:
    examples = list(task.read(unlabelled(task, tmp_path)))
    assert len(examples) == 3
    assert all(isinstance(example, Example) and example.label is None for example in examples)


def test_submission_goes_there_and_back(task: Task, tmp_path: Path) -> None:
    source, target = submission(task, tmp_path)
    assert task.verify(target, source) == []
    assert task.read_predictions(target, list(task.read(source))) == answers(task)


def test_plain_labels_are_read_too(task: Task, tmp_path: Path) -> None:
    source = unlabelled(task, tmp_path)
    task.write_labels(tmp_path / "labels.txt", answers(task))
    assert task.read_predictions(tmp_path / "labels.txt", list(task.read(source))) == answers(task)


def test_unknown_labels_are_not_written(task: Task, tmp_path: Path) -> None:
    examples = list(task.read(unlabelled(task, tmp_path)))
    with pytest.raises(EmoscopeError, match="unknown label 'hapy'"):
        task.write_submission(tmp_path / "bad", examples, ["hapy"] * 3)
    with pytest.raises(EmoscopeError, match="2 labels for 3 examples"):
        task.write_submission(tmp_path / "bad", examples, list(task.labels[:2]))
    assert not (tmp_path / "bad").exists()


def test_verify_finds_a_missing_item(task: Task, tmp_path: Path) -> None:
    source, target = submission(task, tmp_path)
    examples = list(task.read(source))[:-1]
    task.write_submission(target, examples, answers(task)[:-1])
    assert "has 2 labels, expected 3; the file seems cut off" in task.verify(target, source)[0]


def test_verify_finds_an_unknown_label(task: Task, tmp_path: Path) -> None:
    source, target = submission(task, tmp_path)
    text = target.read_text(encoding="utf-8")
    label = answers(task)[0]
    target.write_text(re.sub(rf"{label}(?=\"?$)", "surprised", text, count=1, flags=re.MULTILINE), encoding="utf-8")
    found = task.check(target, source)
    (problem,) = found.warnings if task.foreign_labels == "wrong" else found.problems
    assert re.match(rf"{re.escape(str(target))}, (row|dialogue) \d.*: unknown label 'surprised'", problem)


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01\x02", b"\xff\xfe\x00a", b"\xc3\x28 \n", b"x" * 2_000_000, b"[[1", b"{}"]
)
def test_broken_files_are_one_clear_line(task: Task, tmp_path: Path, content: bytes) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(content)
    with pytest.raises(InputError) as caught:
        list(task.read(bad))
    assert "\n" not in str(caught.value)
    assert str(bad) in str(caught.value)
    problems = task.verify(bad, unlabelled(task, tmp_path))
    assert problems
    assert all(problem.startswith(str(bad)) and "\n" not in problem for problem in problems)


def test_a_metric_can_be_swapped(task: Task) -> None:
    swapped = task.with_metric(standard_metric("accuracy"))
    assert (swapped.metric.name, type(swapped)) == ("accuracy", type(task))
    assert swapped.metric(np.diag([1] * len(task.labels)), task.labels) == 1
    assert get_task(task.name).metric == task.metric != swapped.metric
    assert pickle.loads(pickle.dumps(swapped)).metric == swapped.metric


@pytest.mark.parametrize("name", list(TASKS))
@given(content=st.binary(max_size=200))
def test_no_bytes_crash_a_reader(name: str, content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(content)
    for stream in (get_task(name).read, get_task(name).submitted):
        try:
            list(stream(path))
        except InputError as error:
            assert "\n" not in str(error)


# EmoContext


def emocontext_problems(tmp_path: Path, text: str) -> list[str]:
    task = get_task("emocontext")
    source = unlabelled(task, tmp_path)
    target = tmp_path / "submission.txt"
    target.write_text(text, encoding="utf-8")
    return [problem.removeprefix(str(target)) for problem in task.verify(target, source)]


HEADER = "id\tturn1\tturn2\tturn3\tlabel\n"
ROWS = ["0\thi\thello\tI am sad\tsad\n", '1\tno\twhy\t"quoted\tothers\n', "2\ta\tb\tc 😂\thappy\n"]


def test_emocontext_example_is_three_turns_with_the_last_to_label(tmp_path: Path) -> None:
    first = next(get_task("emocontext").read(unlabelled(get_task("emocontext"), tmp_path)))
    assert first.dialogue.texts == ("hi", "hello", "I am sad")
    assert [turn.speaker for turn in first.dialogue.turns] == ["user", "agent", "user"]
    assert (first.turn, first.text, first.dialogue.id) == (2, "I am sad", "0")


def test_emocontext_accepts_windows_line_ends_and_a_missing_last_one(tmp_path: Path) -> None:
    text = (HEADER + "".join(ROWS)).replace("\n", "\r\n").removesuffix("\r\n")
    (tmp_path / "unlabelled").write_text("", encoding="utf-8")
    assert emocontext_problems(tmp_path, text) == []


LABELS = "expected one of others, happy, sad, angry"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (ROWS[:2], ": has 2 labels, expected 3; the file seems cut off"),
        ([*ROWS, "3\tx\ty\tz\tsad\n"], ": has 4 labels, expected 3"),
        (
            [ROWS[1], ROWS[0], ROWS[2]],
            ", row 2: holds item 2 of the unlabelled file instead of item 1: the order was changed",
        ),
        ([ROWS[0].replace("hello", "helo"), *ROWS[1:]], ", row 2: differs from the unlabelled file: text was altered"),
        ([ROWS[0].replace("\tsad", "\t"), *ROWS[1:]], ", row 2: label is missing"),
        ([ROWS[0].replace("\tsad", "\tnan"), *ROWS[1:]], f", row 2: unknown label 'nan', {LABELS}"),
        (
            [ROWS[0].replace("\tsad", "\tSad"), *ROWS[1:]],
            f", row 2: unknown label 'Sad', {LABELS}; did you mean 'sad'?",
        ),
        ([ROWS[0], ROWS[0], ROWS[2]], ", row 3: id '0' was used already at row 2"),
        ([*ROWS[:2], "2\ta\tb"], ", row 4: expected 5 tab-separated columns, found 3"),
    ],
)
def test_emocontext_verification(tmp_path: Path, rows: list[str], expected: str) -> None:
    assert expected in emocontext_problems(tmp_path, HEADER + "".join(rows))


def test_emocontext_requires_its_header(tmp_path: Path) -> None:
    assert "expected the header 'id turn1 turn2 turn3 [label]'" in emocontext_problems(tmp_path, "".join(ROWS))[0]
    assert "has no 'label' column" in emocontext_problems(tmp_path, get_task("emocontext").sample)[0]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("0\thi\thello\tsad\n", "row 2: expected 5 tab-separated columns, found 4"),
        ("0\thi\thello\tbye\t\n", "row 2: label is missing"),
        ("0\thi\thello\tbye\tnan\n", "row 2: unknown label 'nan'"),
        ("\thi\thello\tbye\tsad\n", "row 2: id is missing"),
        ("0\thi\thello\tbye\tsad\n0\ta\tb\tc\tsad\n", "row 3: id '0' was used already"),
        ("", "has a header but no rows"),
    ],
)
def test_emocontext_reader_is_strict(tmp_path: Path, row: str, expected: str) -> None:
    path = tmp_path / "train.txt"
    path.write_text(HEADER + row, encoding="utf-8")
    with pytest.raises(InputError, match=expected):
        list(get_task("emocontext").read(path))


# EmotionX


def test_emotionx_reads_votes_and_back_translations(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    entry = {
        "speaker": "Joey",
        "utterance": "Hey",
        "emotion": "surprise",
        "annotation": "2000030",
        "utterance_de": "Hello",
    }
    path.write_text(json.dumps([[entry]]))
    (example,) = get_task("emotionx-friends").read(path)
    assert example.label == "surprise"
    assert {label: count for label, count in example.votes.items() if count} == {"neutral": 2, "surprise": 3}
    assert dict(example.variants) == {"de": "Hello"}


def test_emotionx_examples_of_a_dialogue_share_it(tmp_path: Path) -> None:
    task = get_task("emotionx-push")
    examples = list(task.read(unlabelled(task, tmp_path)))
    assert examples[0].dialogue is examples[1].dialogue
    assert examples[1].context.texts == ("Hi", "It\x92s you!")
    assert examples[0].context.texts == ("Hi",)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"speaker": "A", "utterance": "x", "emotion": "glad"}, "dialogue 1, line 1: unknown emotion 'glad'"),
        ({"speaker": "A", "utterance": "x", "annotation": "12"}, "dialogue 1, line 1: 'annotation' must be 7 digits"),
        ({"speaker": "A", "utterance": None}, "dialogue 1, line 1: 'utterance' is missing or not a string"),
        ({"utterance": "x"}, "dialogue 1, line 1: 'speaker' is missing or not a string"),
        ("x", "dialogue 1, line 1: expected an object, found str"),
    ],
)
def test_emotionx_reader_is_strict(tmp_path: Path, entry: object, expected: str) -> None:
    path = tmp_path / "train.json"
    path.write_text(json.dumps([[entry]]))
    with pytest.raises(InputError, match=expected):
        list(get_task("emotionx-friends").read(path))


@pytest.mark.parametrize("cut", [1, 10, 60, -2])
def test_truncated_emotionx_file_is_reported(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "train.json"
    path.write_text(get_task("emotionx-push").sample[:cut])
    with pytest.raises(InputError, match="ends early: the file is truncated"):
        list(get_task("emotionx-friends").read(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[NaN]", "holds NaN, which is not JSON"),
        ('[[{"a": 1, "a": 2}]]', "holds an object with the same key twice"),
    ],
)
def test_emotionx_data_are_stricter_than_submissions(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "train.json"
    path.write_text(text)
    with pytest.raises(InputError, match=expected):
        list(get_task("emotionx-friends").read(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[" * 100_000, "nested too deeply|truncated"),
        ("[[], []] x", "has more text after the end of its JSON list"),
        ('[{"name": "A", "email": "b"}]', "expected a list of two items"),
        ('[{"name": "A"}, []]', "must give the author's 'email'"),
    ],
)
def test_emotionx_submission_is_strict(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "submission.json"
    path.write_text(text)
    with pytest.raises(InputError, match=expected):
        list(get_task("emotionx-friends").submitted(path))


# IEST


def test_iest_reads_labels_from_a_separate_file(tmp_path: Path) -> None:
    (tmp_path / "trial-v3.csv").write_text(get_task("iest").sample)
    (tmp_path / "trial-v3.labels").write_text("joy\nsad\nanger\n")
    assert [example.label for example in get_task("iest").read(tmp_path / "trial-v3.csv")] == ["joy", "sad", "anger"]
    for labels, problem in (
        ("joy\nsad\n", ": has only 2 labels, expected one for each row of trial-v3.csv"),
        ("joy\nsad\nanger\nfear\n", ": has more than 3 labels, expected one for each row of trial-v3.csv"),
        ("joy\nsaad\nanger\n", ", row 2: unknown label 'saad'"),
    ):
        (tmp_path / "trial-v3.labels").write_text(labels)
        with pytest.raises(InputError, match="^" + re.escape(f"{tmp_path / 'trial-v3.labels'}{problem}")):
            list(get_task("iest").read(tmp_path / "trial-v3.csv"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("joy\tno trigger here\n", r"row 1: has no \[#TRIGGERWORD#\]"),
        ("sadness\tI am [#TRIGGERWORD#] that\n", "row 1: unknown label 'sadness'.*did you mean 'sad'"),
        (
            "joy\tI am [#TRIGGERWORD#] that\nI am [#TARGETWORD#] when\n",
            "row 2: expected 2 tab-separated columns, found 1",
        ),
        ("label\ttweet\n", "row 1: has no"),
    ],
)
def test_iest_reader_is_strict(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "train.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}, {expected}"):
        list(get_task("iest").read(path))


def test_iest_header_in_a_submission_is_named(tmp_path: Path) -> None:
    task = get_task("iest")
    source = unlabelled(task, tmp_path)
    target = tmp_path / "labels"
    target.write_text("label\njoy\njoy\njoy\n")
    found = task.check(target, source)
    assert found.problems == [f"{target}: has 4 labels, expected 3"]
    assert found.warnings == [f"{target}, row 1: is a header, but this format has none"]


# A task from outside the package


def test_a_task_from_outside_is_registered_read_and_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TASKS, "_entries", dict(TASKS._entries))
    TASKS.add("moods", "kits.moods_task:Moods")
    task = get_task("moods")
    source = unlabelled(task, tmp_path)
    (tmp_path / "moods").mkdir()
    (tmp_path / "moods" / "test.txt").write_text("so good | good\nso bad | bad\nhm | good\n")
    task.write_submission(tmp_path / "said", list(task.read(source)), ["good", "bad", "bad"])
    assert task.verify(tmp_path / "said", source) == []
    done = CliRunner().invoke(
        app,
        ["evaluate", str(tmp_path / "said"), "-t", "moods", "--split", "test", "--data", str(tmp_path), "--json"],
    )
    found = json.loads(done.stdout)
    assert (found["metric"], found["score"], found["rank"]) == ("accuracy", pytest.approx(2 / 3), None)
    assert "moods" in CliRunner().invoke(app, ["tasks"]).stdout


# The real files


def present_files(task: Task, folder: Path) -> dict[str, DataFile]:
    """The task's files that are here, by split; without any the test is skipped."""
    files = {
        split: file
        for revision in reversed(task.metadata.revisions)
        for split, file in revision.splits.items()
        if (folder / task.metadata.folder / file.name).is_file()
    }
    return files or pytest.skip(f"no data of {task.name} here")


@pytest.mark.data
def test_real_files_are_the_published_ones(task: Task, data_folder: Path) -> None:
    states = {checked.path.name: checked.state for checked in check_files(task, data_folder)}
    for split, file in present_files(task, data_folder).items():
        examples = read_split(task, split, data_folder)
        assert len(examples) == file.examples
        assert all((example.label is not None) == file.labelled for example in examples)
        assert states[file.name] == "ok"


@pytest.mark.data
def test_a_submission_for_the_real_test_set_verifies(task: Task, data_folder: Path, tmp_path: Path) -> None:
    source = data_folder / task.metadata.folder / present_files(task, data_folder)["test"].name
    examples = list(task.read(source))
    task.write_submission(tmp_path / "out", examples, answers(task, len(examples)))
    assert task.verify(tmp_path / "out", source) == []
