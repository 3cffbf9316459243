"""Vote strings are written as they are read, and read as they were written."""

import json
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.aggregate import aggregate_votes
from emoscope.corpus.annotation.agreement_report import measure_agreement
from emoscope.corpus.annotation.panel import read_panel, write_labels
from emoscope.tasks.emotionx import vote_string
from kits.corpus_command import run


def test_vote_strings(tmp_path: Path) -> None:
    results = aggregate_votes({"1": {"neutral": 2, "surprise": 3}, "2": {"joy": 5}})
    write_labels(tmp_path / "labels.csv", results, vote_strings=True)
    rows = [line.split(",") for line in (tmp_path / "labels.csv").read_text().splitlines()]
    assert [row[-1] for row in rows] == ["annotation", "2000030", "0500000"]
    write_labels(tmp_path / "labels.jsonl", results, vote_strings=True)
    assert '"annotation": "2000030"' in (tmp_path / "labels.jsonl").read_text()


@pytest.mark.parametrize(("votes", "problem"), [({"happy": 1}, "no place for 'happy'"), ({"joy": 10}, "10 votes")])
def test_labels_that_do_not_fit_a_vote_string_are_refused(votes: dict[str, int], problem: str) -> None:
    with pytest.raises(EmoscopeError, match=problem):
        vote_string(votes)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_vote_strings_are_read_back(suffix: str, tmp_path: Path) -> None:
    votes = {"1": {"neutral": 2, "surprise": 3}, "2": {"joy": 5}, "3": {"joy": 1, "anger": 1, "disgust": 1}}
    path = tmp_path / f"labels{suffix}"
    write_labels(path, aggregate_votes(votes), vote_strings=True)
    panel = read_panel([path])
    read = {task: {label: count for label, count in counts.items() if count} for task, counts in panel.votes.items()}
    assert read == votes and not panel.judgements
    code, out, _ = run("corpus", "agreement", path, "--json")
    assert code == 0 and json.loads(out)["fleiss_kappa"] == measure_agreement(votes.values()).fleiss_kappa


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", "task,annotation\n1,2000030\n2,500000\n", "row 3: 'annotation' must be 7 digits, found '500000'"),
        ("a.csv", "task,annotation\n1,2000030\n1,5000000\n", "row 3: the votes on '1' were read already"),
        ("a.csv", "text,annotation\nhi,2000030\n", "row 2: the task has no name"),
        ("a.jsonl", '{"task": 1, "annotation": "2000030"}\n{"task": 2}\n', "row 2: 'annotation' must be 7 digits"),
        ("a.jsonl", '{"task": 1, "annotation": "2000030"}\n[]\n', "row 2: expected an object, found list"),
    ],
)
def test_vote_strings_that_are_none_are_one_line(name: str, content: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(EmoscopeError) as caught:
        read_panel([tmp_path / name])
    assert problem in str(caught.value) and "\n" not in str(caught.value)


def test_a_column_of_notes_is_no_vote_string(tmp_path: Path) -> None:
    """Nor is one beside the names of workers, whose labels count."""
    for name, header, note in (("ann", "task,label,annotation", "odd"), ("all", "task,label,worker,annotation", "ben")):
        (tmp_path / f"{name}.csv").write_text(f"{header}\n1,joy,{note}{',2000030' * (name == 'all')}\n")
    assert {one.worker for one in read_panel([tmp_path]).judgements} == {"ann", "ben"}
    assert read_panel([tmp_path]).votes == {"1": {"joy": 2}}
