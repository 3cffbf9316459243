"""Annotation files: every format gives back what was written, and says where a mistake is."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.annotations import Annotations, votes_of
from emoscope.corpus.annotation.files import read_annotations, write_annotations, write_per_worker

SAID = Annotations(
    (
        Judgement("d-1", "ann@lab.org", "joy", ("surprise", "love")),
        Judgement("d-1", "ben, the 2nd", 'so "glad"'),
        Judgement("d-2", "ann@lab.org", "sad"),
    ),
    {"d-1": {"text": "I passed! 🎉\nReally", "source": 7}, "d-2": {"text": "oh"}, "d-3": {"text": "not judged yet"}},
)

names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=6).filter(
    lambda name: name == name.strip()
)
judged = st.dictionaries(
    st.tuples(names, names),
    st.tuples(names, st.lists(names.filter(lambda name: ";" not in name), max_size=2)),
    min_size=1,
    max_size=8,
).map(
    lambda said: tuple(
        Judgement(task, worker, label, tuple(others)) for (task, worker), (label, others) in said.items()
    )
)


def same(one: Annotations, other: Annotations, *, data: bool = True) -> bool:
    return sorted(one.judgements) == sorted(other.judgements) and (not data or dict(one.data) == dict(other.data))


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl"])
def test_one_file_of_every_format_is_read_back_whole(tmp_path: Path, suffix: str) -> None:
    write_annotations(tmp_path / f"said{suffix}", SAID)
    assert same(read_annotations([tmp_path / f"said{suffix}"]), SAID, data=suffix != ".csv")


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl"])
def test_one_file_per_annotator_is_read_back_whole(tmp_path: Path, suffix: str) -> None:
    written = write_per_worker(tmp_path / "people", SAID, suffix)
    assert len(written) == (2 if suffix == ".csv" else 3)
    assert same(read_annotations([tmp_path / "people"]), SAID, data=suffix != ".csv")


@settings(max_examples=40, deadline=None)
@given(judged, st.sampled_from([".csv", ".json", ".jsonl"]))
def test_any_judgements_survive_every_format(said: tuple[Judgement, ...], suffix: str) -> None:
    with TemporaryDirectory() as folder:
        write_annotations(Path(folder) / f"a{suffix}", Annotations(said))
        assert same(read_annotations([Path(folder) / f"a{suffix}"]), Annotations(said), data=False)
        write_per_worker(Path(folder) / "people", Annotations(said), suffix)
        workers = {one.worker for one in said}
        if len({worker.casefold() for worker in workers}) == len(workers):
            assert same(read_annotations([Path(folder) / "people"]), Annotations(said), data=False)


def test_no_worker_is_hidden_or_written_over(tmp_path: Path) -> None:
    workers = [".", "..", ".ann", "%2Eann", "a/b", "a%2Fb", "tasks"]
    said = Annotations(tuple(Judgement("1", worker, "joy") for worker in workers), {"2": {"text": "not judged"}})
    assert len(set(write_per_worker(tmp_path / "people", said, ".jsonl"))) == len(workers)
    assert same(read_annotations([tmp_path / "people"]), said)


def test_tasks_are_exported_to_label_studio_and_imported(tmp_path: Path) -> None:
    out = tmp_path / "tasks.json"
    write_annotations(out, Annotations(data={"d-1": {"text": "hi"}}))
    (task,) = json.loads(out.read_text())
    assert task == {"id": 1, "data": {"text": "hi", "task": "d-1"}, "annotations": []}
    # What Label Studio exports: its own ids, a user by number, a skipped annotation, times.
    choice = {"id": "x", "from_name": "emotion", "to_name": "text", "type": "choices", "value": {"choices": ["joy"]}}
    task["annotations"] = [
        {"id": 5, "completed_by": 10, "result": [choice], "was_cancelled": False, "lead_time": 4.2},
        {"id": 6, "completed_by": {"id": 11, "email": "b@c.de"}, "result": [choice], "ground_truth": False},
        {"id": 7, "completed_by": 12, "result": [], "was_cancelled": True},
    ]
    out.write_text(json.dumps([{**task, "created_at": "2026-01-01", "predictions": []}]))
    assert read_annotations([out]).judgements == (Judgement("d-1", "10", "joy"), Judgement("d-1", "b@c.de", "joy"))


def test_doccano_exports_name_the_worker_by_the_file(tmp_path: Path) -> None:
    (tmp_path / "ann.jsonl").write_text(
        '{"id": 3, "text": "hi", "label": ["joy"], "Comments": []}\n{"id": 4, "text": "so", "label": []}\n'
    )
    (tmp_path / "ben.jsonl").write_text('{"id": 3, "text": "hi", "label": ["sad"], "Comments": []}\n')
    found = read_annotations([tmp_path])
    assert found.judgements == (Judgement("3", "ann", "joy"), Judgement("3", "ben", "sad"))
    assert dict(found.data) == {"3": {"text": "hi"}, "4": {"text": "so"}}
    old = tmp_path / "old.jsonl"
    old.write_text('{"id": 3, "text": "hi", "annotations": [{"label": 2, "user": 1}, {"label": 5, "user": 2}]}\n')
    assert read_annotations([old]).judgements == (Judgement("3", "1", "2"), Judgement("3", "2", "5"))


def test_a_csv_without_workers_is_one_workers(tmp_path: Path) -> None:
    (tmp_path / "ann.csv").write_text("label,note,task\njoy,unsure,1\n")
    assert read_annotations([tmp_path / "ann.csv"]).judgements == (Judgement("1", "ann", "joy"),)


def test_votes_are_counted_by_task() -> None:
    assert votes_of(SAID.judgements) == {"d-1": {"joy": 1, 'so "glad"': 1}, "d-2": {"sad": 1}}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "task,worker\n1,ann\n", "a.csv, row 1: expected columns task,label"),
        ("a.csv", "task,worker,label\n1,ann\n", "a.csv, row 2: expected 3 comma-separated columns, found 2"),
        ("a.csv", "task,worker,label\n1,ann, \n", "a.csv, row 2: 'label' is missing"),
        ("a.csv", "task,worker,label\n", "a.csv: has a header but no rows"),
        ("a.csv", "task,worker,label\n1,a,x\n1,a,y\n", r"a.csv, row 3: worker 'a' has judged task '1' .*row 2\)"),
        ("a.txt", "task,worker,label\n", "expected a name that ends in .csv, .json, .jsonl"),
        ("a.json", "[{]", "a.json, row 1: is not valid JSON"),
        ("a.json", "{}", "expected a list of tasks"),
        ("a.json", '[{"id": 1}]', "a.json, task 1: expected an object with 'data'"),
        ("a.json", '[{"data": {}}]', "a.json, task 1: the task has no name"),
        (
            "a.json",
            '[{"id": 1, "data": {}, "annotations": [{"completed_by": 1, "result": []}]}]',
            "a.json, task 1, annotation 1: expected one choice, found 0",
        ),
        (
            "a.json",
            '[{"id": 1, "data": {}, "annotations": [{"result": [{"type": "choices", "value": {"choices": ["a"]}}]}]}]',
            "'completed_by' is missing",
        ),
        ("a.jsonl", '{"id": 1, "label": ["a"]}\n{"id": 2}\n', "a.jsonl, row 2: 'label' is missing"),
        ("a.jsonl", '{"id": 1, "label": ["a", "b"]}\n', "a.jsonl, row 1: expected one label, found 2"),
        ("a.jsonl", '{"id": 1, "label": [true]}\n', "a.jsonl, row 1: 'label' must be a string, not bool"),
        ("a.jsonl", "[]\n", "a.jsonl, row 1: expected an object, found list"),
    ],
)
def test_mistakes_name_file_and_row(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(EmoscopeError, match=message):
        read_annotations([tmp_path / name])


def test_worker_judging_a_task_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,worker,label\n1,ann,joy\n")
    (tmp_path / "b.csv").write_text("task,worker,label\n2,ann,joy\n1,ann,joy\n")
    with pytest.raises(EmoscopeError, match=r"b.csv, row 3: worker 'ann' has judged task '1' already \(.*a.csv, row 2"):
        read_annotations([tmp_path])


def test_empty_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="has no annotation files"):
        read_annotations([tmp_path])


@pytest.mark.parametrize("label", ["", " joy", "a\nb", "a\x00"])
def test_names_that_no_file_could_hold_are_refused(label: str) -> None:
    with pytest.raises(EmoscopeError, match="'label'"):
        Judgement("1", "ann", label)


def test_data_that_doccano_cannot_hold_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="data named 'label'"):
        write_annotations(tmp_path / "a.jsonl", Annotations(data={"1": {"text": "hi", "label": "x"}}))
