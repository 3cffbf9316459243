"""A corpus in a folder as a task: read, trained on, predicted, scored and described like the shared ones."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.tasks import get_task
from emoscope.tasks.data import check_files, find_split, read_split, sha256_of
from kits.corpus_command import run

SAYS = {
    "others": ["see you at {}", "what about {} then", "the bus is at {}", "{} is fine with me"],
    "happy": ["so happy about {}!", "yay {} is great", "I love {} :)", "{} made my day"],
    "sad": ["I cried about {}", "{} makes me so sad", "lonely without {} :(", "I miss {}"],
}
LABELS = list(SAYS)


def manifest(folder: Path, **changes: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "name": "tiny",
        "title": "Tiny",
        "description": "Made up.",
        "labels": LABELS,
        "neutral": "others",
        "metric": {"name": "micro-f1", "description": "micro-averaged F1 over happy and sad"},
        "form": "emocontext",
        "terms": "None.",
        "natural_prior": {"others": 0.8, "happy": 0.1, "sad": 0.1},
        "natural_prior_source": "a guess",
        "splits": {
            name: {"file": f"{name}.jsonl", "sha256": sha256_of(folder / f"{name}.jsonl")}
            for name in ("train", "dev", "test")
            if (folder / f"{name}.jsonl").is_file()
        },
        **changes,
    }


def write(folder: Path, **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    things = ["monday", "the party", "Lund", "my cat", "tea", "her", "them", "it", "this", "Rome", "noon", "work"]
    for name, chosen in (("train", things), ("dev", things[:3]), ("test", things[3:6])):
        rows = [
            {
                "id": f"{name}-{label}-{number}-{thing}",
                "turns": [
                    {"speaker": "user", "text": f"hi {name} {number}"},
                    {"speaker": "agent", "text": "hello"},
                    {"speaker": "user", "text": said.format(thing)},
                ],
                "label": label,
                "votes": {label: 2, "others": 1} if label != "others" else {"others": 3},
                "soft": {label: 1.0},
                "variants": {"es": "other words"},
            }
            for thing in chosen
            for label in LABELS
            for number, said in enumerate(SAYS[label])
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "corpus.json").write_text(json.dumps(manifest(folder, **changes)))
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny")


def test_it_reads_as_examples(corpus: Path) -> None:
    task = get_task(str(corpus))
    assert (task.name, task.labels, task.metadata.neutral_label) == ("tiny", ("others", "happy", "sad"), "others")
    examples = read_split(task, "train")
    assert len(examples) == 12 * 12
    first = examples[0]
    assert isinstance(first, Example)
    assert (first.turn, first.label, first.text) == (2, "others", "see you at monday")
    assert first.votes == {"others": 3}
    assert first.variants == {"es": "other words"}
    assert first.dialogue.turns[1].speaker == "agent"
    assert {checked.state for checked in check_files(task)} == {"ok"}
    assert pickle.loads(pickle.dumps(task)).metadata == task.metadata


def test_a_folder_of_data_does_not_lead_astray(corpus: Path, tmp_path: Path) -> None:
    task = get_task(str(corpus))
    assert find_split(task, "dev", tmp_path / "elsewhere").path == corpus / "dev.jsonl"


def test_submissions_go_both_ways(corpus: Path, tmp_path: Path) -> None:
    task = get_task(str(corpus))
    examples = read_split(task, "test")
    labels = [str(example.label) for example in examples]
    file = tmp_path / "said.jsonl"
    task.write_submission(file, examples, labels)
    assert task.read_predictions(file, examples) == labels
    assert task.verify(file, corpus / "test.jsonl") == []
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[1], lines[0], *lines[2:]]))
    assert "the order was changed" in task.verify(file, corpus / "test.jsonl")[0]
    file.write_text('{"label": "happy"}\n')
    with pytest.raises(InputError, match="row 1: expected a JSON object with 'id' and 'label'"):
        list(task.submitted(file))
    file.write_text('{"id": 7, "label": null}\n{"id": "8", "label": "glad"}\n{"id": 9, "label": 3}\n')
    said = task.submitted(file)
    assert [(one.where, one.label, one.content) for one in (next(said), next(said))] == [
        ("row 1", None, ("7",)),
        ("row 2", "glad", ("8",)),
    ]
    with pytest.raises(InputError, match="row 3: 'label' must be a string"):
        next(said)
    with pytest.raises(EmoscopeError, match=r"tiny: unknown label 'hapy', .* did you mean 'happy'"):
        task.write_submission(file, examples[:1], ["hapy"])


@pytest.mark.parametrize(
    ("metric", "neutral", "score"),
    [("micro-f1", "others", 2 / 3), ("micro-f1", None, 0.75), ("macro-f1", "others", 7 / 9), ("accuracy", None, 0.75)],
)
def test_metrics(tmp_path: Path, metric: str, neutral: str | None, score: float) -> None:
    from emoscope.core.metrics import confusion_matrix

    folder = write(tmp_path / "tiny", metric={"name": metric, "description": "x"}, neutral=neutral)
    task = get_task(str(folder))
    gold, said = ["others", "happy", "happy", "sad"], ["others", "happy", "sad", "sad"]
    names = list(task.labels)
    assert float(task.metric(confusion_matrix(gold, said, names), names)) == pytest.approx(
        {"macro-f1": 7 / 9}.get(metric, score)
    )


def test_train_predict_evaluate_and_describe(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("train", "nano", "--task", "tiny", "-o", "run", "--json")
    assert code == 0
    assert json.loads(out)["task"] == str(corpus)
    # Another way to name the same folder.
    code, _, _ = run("predict", "run", "--task", f"{corpus}/", "--split", "test", "-o", "said.jsonl")
    assert code == 0
    code, out, _ = run("evaluate", "said.jsonl", "--task", "./tiny", "--split", "test", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["task"] == "tiny"
    assert found["score"] > 0.8
    code, out, _ = run("data", "stats", "tiny", "--json")
    assert code == 0
    assert json.loads(out)["splits"]["dev"]["labels"] == {"others": 12, "happy": 12, "sad": 12}
    assert run("data", "check", "tiny")[0] == 0


def test_systems_of_the_same_form_take_it(corpus: Path) -> None:
    from emoscope.systems import SYSTEMS

    task = get_task(str(corpus))
    assert SYSTEMS["emocontext-baseline"](task).task is task
    with pytest.raises(EmoscopeError, match="iest-baseline cannot learn tiny"):
        SYSTEMS["iest-baseline"](task)


def test_build_folder_can_be_used_as_its_corpus(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    corpus.rename(tmp_path / "build" / "corpus")
    assert get_task(f"{tmp_path}/build/").reference == str(tmp_path / "build" / "corpus")


def test_mistakes(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match=r"is not a corpus \(corpus.json is missing\)"):
        get_task(f"{tmp_path}/nothing")
    good = (corpus / "corpus.json").read_text()
    for change, problem in (
        ({"name": "iest"}, "the name 'iest' is that of a shared task"),
        ({"neutral": "none"}, "neutral label 'none' is not a label"),
        ({"lables": []}, "'lables'"),
        ({"metric": {"name": "bleu", "description": "x"}}, "'metric.name'"),
        ({"natural_prior": {"others": 1.0}}, "natural prior must name each label once"),
        ({"labels": ["others"]}, "'labels'"),
        ({"splits": {}}, "'splits'"),
        ({"format": 2}, "'format'"),
        ({"splits": {"train": {"file": "../train.jsonl"}}}, "'splits.train.file'"),
    ):
        (corpus / "corpus.json").write_text(json.dumps({**json.loads(good), **change}))
        with pytest.raises(InputError, match=problem) as found:
            get_task(str(corpus))
        assert "\n" not in str(found.value)
    (corpus / "corpus.json").write_text("{")
    with pytest.raises(InputError, match=r"corpus.json, row 1: is not valid JSON"):
        get_task(str(corpus))
    with pytest.raises(EmoscopeError, match="no task named 'tinny'"):
        get_task("tinny")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('{"turns": ["a"], "label": "sad"}', "row 1: 'id' is missing"),
        ('{"id": "1", "turns": ["a"], "label": "glad"}', "example 1: unknown label 'glad'"),
        ('{"id": "1", "turns": ["a"], "label": 3}', "row 1: 'label' must be a string"),
        ('{"id": "1", "turns": ["a"], "turn": 1}', "row 1: a dialogue of 1 turns has no turn 1"),
        ('{"id": "1", "turns": ["a"], "turn": "0"}', "row 1: 'turn' must be a whole number"),
        ('{"id": "1", "turns": ["a"], "votes": {"sad": "2"}}', "row 1: 'votes' must be an object of int values"),
        ('{"id": "1", "turns": ["a"]}\n{"id": 1, "turns": ["b"]}', "row 2: id '1' was used already"),
        ('{"id": "1", "turns": []}', "row 1: has no turns"),
    ],
)
def test_a_bad_row_is_named(corpus: Path, row: str, problem: str) -> None:
    (corpus / "train.jsonl").write_text(row + "\n")
    with pytest.raises(InputError, match=problem):
        list(get_task(str(corpus)).read(corpus / "train.jsonl"))
