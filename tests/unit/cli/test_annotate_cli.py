"""`emoscope corpus annotate` and `annotate-export`: files in, files out, nothing lost."""

import csv
import json
from pathlib import Path

import pytest

from emoscope.core.dialogue import Turn
from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.annotations import Annotations
from emoscope.corpus.annotation.files import read_annotations
from emoscope.corpus.annotation.items import Item, annotations_of, gold_of, read_items, task_items
from emoscope.tasks import get_task
from kits.annotation_kit import Worker, items, made_study, opened, tokens
from kits.corpus_command import run
from kits.task_files import emocontext_file, emotionx_file, iest_file

TABLE = """task,speaker,turn1,turn2,label,text
a,Ana,hi,"oh, no",sad,zzz
b,Ben,so,,joy,yyy
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def links(folder: Path, *arguments: str | Path) -> dict[str, str]:
    code, out, _ = run("corpus", "annotate", *arguments, "-o", folder, "--no-serve", "--json")
    assert code == 0
    found: dict[str, str] = json.loads(out)["links"]
    return found


def judged(folder: Path, label: str = "sad", worker: str = "ann") -> None:
    """Judge everything there is."""
    with opened(folder) as client:
        one = Worker(client, tokens(folder)[worker])
        one.look()
        while one.view["state"] == "item":
            asked = sum(turn["asked"] for turn in one.view["turns"])
            one.judge(*[label] * asked)


def test_columns_travel_along_and_are_not_shown(table: Path, tmp_path: Path) -> None:
    first, second = read_items(table)
    assert first.turns == (Turn("hi"), Turn("oh, no"))
    assert second.turns == (Turn("so"),)
    assert first.data == {"source_speaker": "Ana", "source_label": "sad", "source_text": "zzz"}
    links(tmp_path / "study", table, "-a", "ann", "--judges", "1")
    judged(tmp_path / "study")
    assert run("corpus", "annotate-export", tmp_path / "study", "-o", tmp_path / "said.jsonl")[0] == 0
    said = read_annotations([tmp_path / "said.jsonl"])
    assert said.data["a"]["source_label"] == "sad"
    assert said.data["a"]["turns"] == [{"text": "hi"}, {"text": "oh, no"}]
    assert said.data["b"] == {"text": "so", "source_speaker": "Ben", "source_label": "joy", "source_text": "yyy"}


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl"])
@pytest.mark.parametrize("whole", [False, True])
def test_every_format_keeps_all_text(tmp_path: Path, suffix: str, whole: bool) -> None:
    folder = tmp_path / "study"
    made_study(folder, items(3, whole=whole), judges=2, other_labels=True)
    with opened(folder) as client:
        for label, token in zip(("sad", "happy"), tokens(folder).values(), strict=True):
            worker = Worker(client, token)
            worker.look()
            for _ in range(2):
                worker.judge(*[label] * (3 if whole else 1), others=("angry", "others"))
    one, many = tmp_path / f"said{suffix}", tmp_path / "people"
    assert run("corpus", "annotate-export", folder, "-o", one)[0] == 0
    assert run("corpus", "annotate-export", folder, "-o", many, "--per-annotator", suffix)[0] == 0
    found = read_annotations([one])
    assert len(found.judgements) == 4 * (3 if whole else 1)
    assert {said.others for said in found.judgements} == {("angry", "others")}
    assert sorted(read_annotations([many]).judgements) == sorted(found.judgements)
    names = {path.stem for path in many.iterdir()}
    assert names - {"tasks"} == {"ann", "ben"}
    if suffix != ".csv":
        assert dict(read_annotations([many]).data) == dict(found.data)
        assert len(found.data) == (9 if whole else 3)


def test_label_studio_tasks_are_imported_and_exported(tmp_path: Path) -> None:
    source = tmp_path / "tasks.json"
    rows = [{"id": 4, "data": {"text": "hi", "topic": 7}}, {"id": 5, "data": {"turns": ["a", "b"]}}]
    source.write_text(json.dumps(rows), encoding="utf-8")
    links(tmp_path / "study", source, "-a", "ann", "--judges", "1")
    judged(tmp_path / "study", "angry")
    run("corpus", "annotate-export", tmp_path / "study", "-o", tmp_path / "said.json")
    said = read_annotations([tmp_path / "said.json"])
    assert set(said.judgements) == {Judgement("4", "ann", "angry"), Judgement("5", "ann", "angry")}
    assert said.data["4"] == {"text": "hi", "topic": 7}


def test_official_files_are_judged_by_their_own_labels(tmp_path: Path) -> None:
    iest = iest_file(tmp_path / "iest.csv", [("joy", "that"), ("sad", "when")])
    code, out, _ = run(
        "corpus", "annotate", iest, "-t", "iest", "-o", tmp_path / "i", "-a", "ann", "--no-serve", "--json"
    )
    assert code == 0
    assert json.loads(out)["rules"]["labels"] == ["anger", "disgust", "fear", "joy", "sad", "surprise"]
    with opened(tmp_path / "i") as client:
        worker = Worker(client, tokens(tmp_path / "i")["ann"])
        assert "TRIGGERWORD" in json.dumps(worker.look())
        assert "joy\\t" not in json.dumps(worker.view)
    friends = emotionx_file(tmp_path / "friends.json", ["joy", "surprise", "anger"])
    links(tmp_path / "x", friends, "-t", "emotionx-friends", "-a", "ann", "--judges", "5")
    judged(tmp_path / "x", "surprise")
    run("corpus", "annotate-export", tmp_path / "x", "-o", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().splitlines()[1] == "0:0,ann,surprise"
    three = emocontext_file(tmp_path / "dev.txt", ["happy", "sad"])
    mistake = run(
        "corpus", "annotate", three, "-t", "emocontext", "-o", tmp_path / "e", "--whole-dialogues", "--no-serve"
    )
    assert mistake[::2] == (2, "--whole-dialogues: emocontext has one label a dialogue")


def test_emotionx_dialogues_are_judged_whole_by_five_workers(tmp_path: Path) -> None:
    """An EmotionX file needs no --task: seven labels, every utterance, five votes on each, and no sixth."""
    friends = emotionx_file(tmp_path / "friends.json", ["joy", "surprise"])
    study, six = tmp_path / "study", ["ann", "ben", "cleo", "dan", "eve", "fay"]
    code, out, _ = run(
        *("corpus", "annotate", friends, "-o", study, "--judges", "5", "--no-serve", "--json"),
        *(word for name in six for word in ("-a", name)),
    )
    rules = json.loads(out)["rules"]
    assert (code, rules["judges"], rules["whole_dialogues"]) == (0, 5, True)
    assert rules["labels"] == ["neutral", "joy", "sadness", "fear", "anger", "surprise", "disgust"]
    for name, label in zip(six, ["surprise", "neutral", "surprise", "neutral", "surprise", "fear"], strict=True):
        judged(study, label, name)
    run("corpus", "annotate-export", study, "-o", tmp_path / "said.csv")
    aggregate = ("corpus", "aggregate", tmp_path / "said.csv", "-o", tmp_path / "labels.csv", "--vote-strings")
    assert run(*aggregate, "--method", "absolute")[0] == 0
    rows = list(csv.DictReader((tmp_path / "labels.csv").read_text().splitlines()))
    assert [(row["task"], row["label"], row["annotation"]) for row in rows] == [
        ("0:0", "surprise", "2000030"),
        ("0:1", "surprise", "2000030"),
    ]


def test_emotionx_workers_must_be_qualified(tmp_path: Path) -> None:
    """The paper's requirements: an English-speaking country, at least 98 % approved, at least 2,000 tasks."""
    friends, people = emotionx_file(tmp_path / "friends.json", ["joy"]), tmp_path / "people.csv"
    require = ["country=AU,CA,GB,IE,NZ,US", "approval_rate>=0.98", "tasks>=2000"]

    def invite(profile: str) -> tuple[int, str, str]:
        people.write_text(f"name,country,approval_rate,tasks\nann,{profile}\n", encoding="utf-8")
        folder = tmp_path / profile.replace(",", "-")
        options = ("--judges", "5", "--people", people, *(word for rule in require for word in ("--require", rule)))
        return run("corpus", "annotate", friends, "-o", folder, "--no-serve", *options)

    for country in ("AU", "CA", "GB", "IE", "NZ", "US"):
        assert invite(f"{country},0.98,2000")[0] == 0
    for profile, why in (
        ("IN,0.99,5000", "country is IN"),
        ("US,0.97,5000", "approval_rate is 0.97, and must be at least 0.98"),
        ("US,0.98,1999", "tasks is 1,999, and must be at least 2,000"),
        ("US,,5000", "approval_rate is not known"),
    ):
        code, _, said = invite(profile)
        assert (code, why in said) == (2, True), said


def test_repeated_command_continues_the_study_with_the_same_links(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    first = links(folder, table, "-a", "ann", "--port", "8123")
    assert first["ann"].startswith("http://127.0.0.1:8123/annotate#emo_a1-")
    again = links(folder, table, "-a", "ben", "--port", "8123", "--public-url", "https://study.example.org/")
    assert again["ann"] == first["ann"].replace("http://127.0.0.1:8123", "https://study.example.org")
    assert set(again) == {"ann", "ben"}
    code, _, message = run("corpus", "annotate", table, "-o", folder, "--judges", "3", "--no-serve")
    assert (code, "holds a study with other options (--judges was 7, now 3)" in message) == (2, True)


def test_the_report_shows_everyone(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    links(folder, table, "-a", "ann", "-a", "ben", "--judges", "1")
    judged(folder)
    code, out, _ = run("corpus", "annotate-export", folder)
    assert code == 0
    assert "2 of 2 items have all their judges" in out
    told = json.loads(run("corpus", "annotate-export", folder, "--json")[1])
    assert (told["items"], told["finished"], told["judgements"], told["output"]) == (2, 2, 2, None)
    assert told["annotators"]["ann"]["judged"] == 2
    assert told["items_by_judges"] == {"1": 2}
    assert told["annotators"]["ben"] == {
        "judged": 0, "skipped": 0, "left": 0, "gold_right": 0, "gold_answers": 0, "refused": False,
        "training": None, "qualification": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "gold", "message"),
    [
        (["--labels", "joy"], None, "expected between 2 and"),
        (["-a", "<b>"], None, "may not hold '<'"),
        (
            [],
            "task,label\na,glee\n",
            "gold.csv: gold question 'a' has the answer 'glee', not one of the labels",
        ),
        ([], "task,label\nx,sad\n", "gold.csv: gold question 'x' is not among the tasks, whose first is 'a'"),
        ([], "task,label\na,sad\n", "gold.csv: 1 gold question is too few"),
        (["--gold-share", "0.2"], None, "--gold-share goes with --gold"),
        (["--min-gold", "0.9"], None, "--min-gold goes with --gold"),
        (["--min-gold-answers", "5"], None, "--min-gold-answers goes with --gold"),
        (["--pass-mark", "0.9"], None, "--pass-mark goes with --training or --qualification"),
    ],
)
def test_mistakes_are_one_line_errors(
    table: Path, tmp_path: Path, arguments: list[str], gold: str | None, message: str
) -> None:
    if gold is not None:
        (tmp_path / "gold.csv").write_text(gold, encoding="utf-8")
        arguments = [*arguments, "--gold", str(tmp_path / "gold.csv")]
    code, _, said = run("corpus", "annotate", table, "-o", tmp_path / "study", "--no-serve", *arguments)
    assert code == 2
    assert message in said
    assert "\n" not in said


def test_export_mistakes(tmp_path: Path) -> None:
    assert "holds no study" in run("corpus", "annotate-export", tmp_path)[2]
    made_study(tmp_path, items(2))
    assert "name the folder" in run("corpus", "annotate-export", tmp_path, "--per-annotator", ".csv")[2]
    assert "expected a name that ends in" in run("corpus", "annotate-export", tmp_path, "-o", tmp_path / "said.xml")[2]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "id,text\n1,hi\n1,ho\n", "a.csv, row 3: '1' names an item already"),
        ("a.csv", "id,text\n", "a.csv: holds no items"),
        ("a.json", '[{"id": 1, "data": {"x": 1}}]', "a.json, task 1: has neither 'text' nor 'turns'"),
        ("a.json", '[{"id": 1, "data": {"turns": "x"}}]', "a.json, task 1: a dialogue is a list of turns, not str"),
    ],
)
def test_bad_tasks_name_file_and_row(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(EmoscopeError, match=message):
        read_items(tmp_path / name)


def test_items_without_a_name_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert [item.name for item in read_items(tmp_path / "a.txt")] == ["0", "1"]


@pytest.mark.data
@pytest.mark.parametrize(
    ("task", "file", "items", "tasks"),
    [
        ("iest", "iest/trial.csv", 9591, 9591),
        ("emocontext", "emocontext/dev.txt", 2755, 2755),
        ("emotionx-push", "emotionx/emotionpush.json", 1000, 14742),
    ],
)
def test_published_files_can_be_judged(data_folder: Path, task: str, file: str, items: int, tasks: int) -> None:
    found = task_items(get_task(task), data_folder / file)
    assert len(found) == items
    assert len({name for item in found for name in item.tasks}) == tasks


def test_gold_of_a_whole_dialogue_names_its_turns() -> None:
    whole = Item("d", (Turn("a"), Turn("b")), whole=True)
    assert gold_of([whole], {"d:1": "joy"}) == {"d": (None, "joy")}
    assert annotations_of([whole], []) == Annotations(
        (), {"d:0": {"text": "a", "dialogue": "d", "turn": 0}, "d:1": {"text": "b", "dialogue": "d", "turn": 1}}
    )


def test_annotator_is_revoked_and_readmitted_by_command(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    before = links(folder, table, "-a", "ann", "-a", "ben", "--judges", "1")
    code, out, _ = run("corpus", "annotate-revoke", folder, "ann")
    assert (code, "ann: revoked" in out) == (0, True)
    assert list(links(folder, table, "--judges", "1")) == ["ben"]
    code, out, _ = run("corpus", "annotate-revoke", folder, "ann", "--new-link")
    assert out.startswith("ann: http://127.0.0.1:8000/annotate#emo_a")
    after = links(folder, table, "--judges", "1")
    assert after["ben"] == before["ben"]
    assert after["ann"] != before["ann"]
    assert run("corpus", "annotate-revoke", folder, "eve")[0] == 2
    assert run("corpus", "annotate-revoke", tmp_path / "nothing", "ann")[0] == 2
