"""`emoscope detect` on files: several, folders, JSON, turn by turn; and what screens and pipes cannot show."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as arrow
import pytest
from pyarrow import parquet

from emoscope.detector import load
from kits.corpus_command import run, stdout_of
from kits.jsonl import read_jsonl, write_jsonl

ANGRY = "I hate you so much"


@pytest.fixture
def chats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tables in the working folder and one in a folder there."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "a.csv": ANGRY,
        "b.csv": "what time is it",
        "logs/c.csv": ANGRY,
        "logs/.hidden.csv": "x",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"id,text\n1,hello\n2,{text}\n")
    return tmp_path


def detect(*arguments: str) -> str:
    return stdout_of("detect", "--model", "nano", *arguments)


def test_several_files_and_folders(chats: Path) -> None:
    rows = json.loads(detect("a.csv", "b.csv", "logs", "--json"))
    assert [(row["file"], row["id"]) for row in rows] == [
        (name, number) for name in ("a.csv", "b.csv", str(Path("logs/c.csv"))) for number in ("1", "2")
    ]
    detect("a.csv", "logs/", "-o", "out/")
    assert sorted(str(path.relative_to(chats / "out")) for path in (chats / "out").rglob("*.csv")) == [
        "a.csv",
        str(Path("logs/c.csv")),
    ]
    assert "file" not in (chats / "out/a.csv").read_text().splitlines()[0].split(",")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.csv", "hello there"], "a.csv is a file, 'hello there' is not"),
        (["a.csv", "missing.csv"], "missing.csv: no such file"),
        (["empty/"], "empty/: is a folder without tables"),
        (["hello", "--column", "text"], "--column goes with a file"),
        (["hello", "--format", "csv"], "--format goes with a file"),
        (["a.csv", "-o", "."], "is the input itself"),
        (["a.csv", "--explain-label", "nonsense"], "no label 'nonsense' to explain"),
    ],
)
@pytest.mark.usefixtures("chats")
def test_ambiguous_input_is_refused(arguments: list[str], message: str) -> None:
    Path("empty").mkdir()
    code, _, said = run("detect", "--model", "nano", *arguments)
    assert (code, message in said) == (2, True), said


@pytest.mark.parametrize("name", ["out[final].csv", "out[/b].csv"])
def test_brackets_in_file_names_are_not_markup(name: str, chats: Path) -> None:
    (chats / name).parent.mkdir(exist_ok=True)
    assert f"2 dialogues labelled into {name}" in run("detect", "--model", "nano", "a.csv", "-o", name)[2]
    shown = stdout_of("score", "a.csv", "-o", f"scored-{name}", "--model", "nano", "--workers", "1")
    assert f"2 rows in 1 part: scored-{name}" in shown


@pytest.mark.parametrize("name", ["out.csv", "out.tsv"])
def test_a_table_without_rows_keeps_its_header(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n")
    detect(str(tmp_path / "a.csv"), "-o", str(tmp_path / name))
    header = re.split(r"[,\t]", (tmp_path / name).read_text().strip())
    assert header == ["id", "text", "label", "truncated", "note", *(f"score_{label}" for label in load("nano").labels)]


def test_a_timeline_without_rows_keeps_its_header(tmp_path: Path) -> None:
    source, out = tmp_path / "a.csv", tmp_path / "out.csv"
    headers = []
    for rows in ("", f"1,7,{ANGRY}\n"):
        source.write_text(f"id,row,text\n{rows}")
        detect(str(source), "--timeline", "-o", str(out))
        headers.append(out.read_text().splitlines()[0])
    assert headers[0] == headers[1]


@pytest.mark.parametrize("source", ["a.csv", "a.parquet"])
def test_a_parquet_file_without_rows_keeps_its_columns(source: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n")
    parquet.write_table(arrow.table({"id": arrow.array([], arrow.int64()), "text": [""][:0]}), tmp_path / "a.parquet")
    detect(str(tmp_path / source), "-o", str(tmp_path / "out.parquet"))
    written = parquet.read_schema(tmp_path / "out.parquet")
    scores = [f"score_{label}" for label in load("nano").labels]
    assert written.names == ["id", "text", "label", "truncated", "note", *scores]
    types = [str(written.field(name).type) for name in ("label", "truncated", "note", scores[0])]
    assert types == ["string", "bool", "string", "double"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", f"id,text\n1,hello\n2,\n3,{ANGRY}\n"),
        ("a.tsv", f"id\tturn1\tturn2\n1\thello\t\n2\t\t\n3\thi\t{ANGRY}\n"),
        ("a.jsonl", f'{{"id": "1", "text": "hello"}}\n{{"id": "2", "text": ""}}\n{{"id": "3", "text": "{ANGRY}"}}\n'),
    ],
)
@pytest.mark.parametrize("options", [(), ("--timeline",), ("--explain",)])
def test_rows_without_text_are_reported_and_left_out(
    name: str, content: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """As `score` does; every other row is answered."""
    (tmp_path / name).write_text(content)
    source, target = tmp_path / name, tmp_path / "out.jsonl"
    code, _, said = run("detect", "--model", "nano", source, "-o", target, *options)
    row = 2 if name == "a.jsonl" else 3
    assert (code, f"{source}: left out 1 row without text (row {row})\n" in said) == (0, True), said
    assert "2 dialogues labelled into" in said
    assert [line["id"] for line in read_jsonl(target) if line.get("turn", 1) == 1] == ["1", "3"]


def test_a_file_without_any_text_is_a_negative_answer(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n" + "".join(f"{number},\n" for number in range(9)))
    code, printed, said = run("detect", "--model", "nano", tmp_path / "a.csv", "--json")
    assert (code, json.loads(printed)) == (1, [])
    assert "a.csv: left out 9 rows without text (row 2, 3, 4, 5, 6, ...)\n" in said


@pytest.mark.usefixtures("chats")
def test_an_empty_turn_is_not_the_working_folder() -> None:
    assert set(json.loads(detect("", "hello", "--json"))) == {"label", "scores", "truncated", "note"}


@pytest.mark.usefixtures("chats")
def test_words_that_look_like_names_are_turns() -> None:
    assert set(json.loads(detect("logs", "where are they?", "--json"))) == {"label", "scores", "truncated", "note"}


@pytest.mark.usefixtures("chats")
def test_json_has_one_shape() -> None:
    alone = json.loads(detect(ANGRY, "--json"))
    (_, row) = json.loads(detect("a.csv", "--json"))
    assert {name: row[name] for name in alone} == alone
    Path("labelled.csv").write_text(f"text,label\n{ANGRY},mine\n")
    (row,) = json.loads(detect("labelled.csv", "--json"))
    assert (row["label"], row["predicted_label"]) == ("mine", alone["label"])
    assert json.loads(detect("a.csv", "--json", "-o", "x.csv")) == {
        "dialogues": 2,
        "files": ["a.csv"],
        "output": "x.csv",
    }


def test_timeline_and_explanations_of_files(tmp_path: Path) -> None:
    source = write_jsonl(
        tmp_path / "a.jsonl", [{"id": 7, "turn": "x", "turns": ["hello", {"speaker": "A", "text": ANGRY}]}]
    )
    detect(str(source), "--timeline", "-o", str(tmp_path / "turns.jsonl"))
    rows = read_jsonl(tmp_path / "turns.jsonl")
    assert [(row["id"], row["source_turn"], row["turn"], row["speaker"], row["text"]) for row in rows] == [
        (7, "x", 1, None, "hello"),
        (7, "x", 2, "A", ANGRY),
    ]
    detect(str(source), "--explain", "-o", str(tmp_path / "why.jsonl"))
    (row,) = read_jsonl(tmp_path / "why.jsonl")
    assert row["explanation"]["label"] == row["label"] == rows[-1]["label"]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_unknown_columns_are_listed_with_the_option_that_names_one(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    if name == "a.parquet":
        parquet.write_table(arrow.table({"id": ["1"], "said": [ANGRY]}), source)
    else:
        source.write_text(f"id,said\n1,{ANGRY}\n" if name == "a.csv" else json.dumps({"id": "1", "said": ANGRY}) + "\n")
    code, _, said = run("detect", "--model", "nano", str(source))
    assert code == 2
    assert "found: id, said; name the text's with --column" in said


def test_one_dialogue_is_not_called_dialogues(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", [{"text": ANGRY}])
    assert "\n1 dialogue labelled into" in "\n" + run("detect", "--model", "nano", source, "-o", tmp_path / "b.csv")[2]


def test_a_column_of_texts_or_messages(tmp_path: Path) -> None:
    message = {"role": "user", "content": ANGRY}
    source = write_jsonl(tmp_path / "a.jsonl", [{"said": ANGRY}, {"said": [message]}])
    first, second = (json.loads(line) for line in detect(str(source), "--column", "said").splitlines())
    assert first["label"] == second["label"] == json.loads(detect(ANGRY, "--json"))["label"]


def test_rows_of_commas_are_blank_and_late_columns_are_not_lost(tmp_path: Path) -> None:
    source = tmp_path / "sheet.csv"
    source.write_text("id,text\n1,hello\n\n,\n , \n2,bye\n,,\n")
    assert [row["id"] for row in json.loads(detect(str(source), "--json"))] == ["1", "2"]
    mixed = write_jsonl(tmp_path / "mixed.jsonl", [{"text": "a"}, {"text": "b", "more": 1}])
    code, _, said = run("detect", "--model", "nano", mixed, "-o", tmp_path / "out.csv")
    assert code == 2
    assert f"{tmp_path / 'out.csv'}: row 2 has a column 'more' that the rows before do not have" in said
    assert not (tmp_path / "out.csv").exists()


def test_flags_show_no_type() -> None:
    done = _process("detect", "--help", COLUMNS="200")
    assert "--json" in done.stdout
    assert "bool" not in done.stdout


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_screens_and_pipes_without_all_characters(encoding: str, tmp_path: Path) -> None:
    shown = _process("detect", "--model", "nano", "I love you 😂", PYTHONIOENCODING=encoding)
    assert (shown.returncode, shown.stderr) == (0, "")
    source = tmp_path / "a.csv"
    source.write_text("text\nso 😂\n", encoding="utf-8")
    (row,) = json.loads(_process("detect", "--model", "nano", str(source), "--json", PYTHONIOENCODING=encoding).stdout)
    assert row["text"] == "so 😂"  # nothing is lost, or it is an error
    refused = _process("detect", "--model", "nano", str(source), PYTHONIOENCODING=encoding)
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"emoscope: standard output is {encoding}, which has no")


def test_half_a_character_is_a_one_line_error(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "so \\ud83d"}\n')
    code, _, said = run("detect", "--model", "nano", source)
    assert (code, "row 1: holds half of a surrogate pair" in said) == (2, True)


def _process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from emoscope.cli.main import run; run()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
