"""Options of `emoscope corpus annotate` for managers: rounds, people, guidelines, suggestions, files."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from emoscope.corpus.annotation.files import read_annotations
from kits.annotation_kit import Worker, opened, tokens
from kits.corpus_command import run

TASKS = "id,turn1,turn2\na,I am so happy,great\nb,I am so sad,why\nc,leave me alone,no\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "tasks.csv": TASKS,
        "training.csv": "task,label,why\nc,angry,she shouts\n",
        "people.csv": "name,country,approval_rate,tasks\nann,US,98%,2000\nben,GB,0.96,5000\n",
        "guidelines.md": "Read all turns.",
        "elsewhere.csv": "task,worker,label\na,ben,happy\nb,ben,sad\nz,ben,sad\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def made(folder: Path, *options: str | Path) -> dict[str, Any]:
    tasks, study = folder / "tasks.csv", folder / "study"
    code, out, error = run("corpus", "annotate", tasks, "-o", study, "--no-serve", "--json", *options)
    assert code == 0, error
    value: dict[str, Any] = json.loads(out)
    return value


def test_a_study_with_everything(folder: Path) -> None:
    options: list[str | Path] = [
        "--training",
        folder / "training.csv",
        "--people",
        folder / "people.csv",
        "--judges",
        "1",
    ]
    options += ["--require", "country=US,GB", "--require", "tasks>=1000", "--suggest", "nano"]
    options += ["--guidelines", folder / "guidelines.md"]
    value = made(folder, *options)
    assert list(value["links"]) == ["ann", "ben"]
    assert "/annotate/desk#emo_m-" in value["desk"]
    assert value["rules"]["suggestions"] == "nano"
    assert made(folder, *options)["links"] == value["links"]
    with opened(folder / "study") as client:
        ann = Worker(client, tokens(folder / "study")["ann"])
        ann.ask("begin", {"briefing": ann.look()["briefing"]})
        assert ann.view["round"] == "training"
        ann.judge("angry")
        assert ann.view["checks"][0]["why"] == "she shouts"
        assert ann.view["suggested"] != []
        ann.judge("sad")
    log = folder / "log.csv"
    assert run("corpus", "annotate-export", folder / "study", "--log", log)[0] == 0
    with log.open(encoding="utf-8") as handle:
        rows = [row for row in csv.DictReader(handle) if row["did"] == "judged"]
    assert [row["label"] for row in rows] == ["angry", "sad"]
    assert all(row["suggested"] in ("happy", "sad", "angry", "others") for row in rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-a", "cal", "--require", "country=US"], "cal does not meet this study's requirements: country is not known"),
        (["--require", "age>=18"], "'age>=18': expected country=US,GB or approval_rate>=0.95 or tasks>=1000"),
        (["--require", "tasks>=many"], "tasks must be a whole number, not 'many'"),
        (["--training", "elsewhere.csv"], "training question 'z' is not among the tasks, whose first is 'a'"),
        (["--training", "training.csv", "--qualification", "training.csv"], "is in the qualification already"),
        (["--labels", "yes,no", "--suggest", "nano"], "none of it is a label of this study (yes, no)"),
        (["--guidelines", "nothing.md"], "nothing.md: no such file"),
    ],
)
def test_invalid_options_are_a_one_line_error_and_create_no_study(
    folder: Path, options: list[str], message: str
) -> None:
    named = [folder / option if option.endswith((".csv", ".md")) else option for option in options]
    if "elsewhere.csv" in options:
        (folder / "elsewhere.csv").write_text("task,label\nz,sad\n", encoding="utf-8")
    code, _, error = run("corpus", "annotate", folder / "tasks.csv", "-o", folder / "study", "--no-serve", *named)
    assert code == 2
    assert message in error
    assert not (folder / "study" / "emoscope.sqlite3").exists()


def test_judgements_are_imported_and_exported_in_every_format(folder: Path) -> None:
    made(folder, "-a", "ann", "--judges", "2")
    command = ("corpus", "annotate-import", folder / "study", folder / "elsewhere.csv")
    code, out, _ = run(*command)
    assert (code, out.splitlines()[0]) == (0, "2 judgements imported, 1 new annotator")
    assert "1 is for a task outside this study, left out" in out
    assert "2 already existed" in run(*command)[1]
    for name, kind in (("x.csv", "csv"), ("x.json", "label-studio"), ("y.jsonl", "doccano"), ("z.jsonl", "prodigy")):
        code, _, _ = run("corpus", "annotate-export", folder / "study", "-o", folder / name, "--format", kind)
        assert code == 0
        said = read_annotations([folder / name]).judgements
        assert [(one.task, one.worker, one.label) for one in said] == [("a", "ben", "happy"), ("b", "ben", "sad")]
    code, out, _ = run("corpus", "annotate-export", folder / "study", "--labels", folder / "labels.csv", "--json")
    assert (code, json.loads(out)["tied"]) == (0, 0)
    assert (folder / "labels.csv").read_text().splitlines()[1] == "a,happy,unanimous,happy:1"
    same = ("-o", folder / "one.csv", "--labels", folder / "study" / ".." / "one.csv")
    code, _, problem = run("corpus", "annotate-export", folder / "study", *same)
    assert (code, "give each a file of its own" in problem) == (2, True)
    assert not (folder / "one.csv").exists()


def test_the_managers_link_is_renewed_by_command(folder: Path) -> None:
    before = made(folder)["desk"]
    code, out, _ = run("corpus", "annotate-revoke", folder / "study", "--manager")
    assert code == 0
    assert out.strip().partition("#")[2] == made(folder)["desk"].partition("#")[2] != before.partition("#")[2]
    code, out, _ = run("corpus", "annotate-revoke", folder / "study", "--manager", "--json")
    assert (code, json.loads(out)) == (0, {"desk": made(folder)["desk"]})
    assert run("corpus", "annotate-revoke", folder / "study")[0] == 2


def test_import_of_other_tasks_adds_no_annotator(folder: Path) -> None:
    """A file of another study must not fill this one with annotators who judged nothing in it."""
    made(folder, "-a", "ann", "--judges", "2")
    (folder / "other.csv").write_text("task,worker,label\nelse1,zoe,sad\nelse2,zoe,sad\n")
    code, out, _ = run("corpus", "annotate-import", folder / "study", folder / "other.csv")
    assert code == 0
    assert out.splitlines()[0] == "0 judgements imported, 0 new annotators"
    assert "2 are for tasks outside this study, left out" in out
    assert "zoe" not in run("corpus", "annotate-export", folder / "study")[1]
