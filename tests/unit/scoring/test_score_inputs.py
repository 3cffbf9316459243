"""No row of a folder is lost silently: every format is read, and skipped files are reported."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from emoscope.core.errors import InputError
from emoscope.tables import open_writer, read_records
from emoscope.tables.inputs import find_inputs
from kits.corpus_command import run
from kits.score_kit import chats, rejects, scored, scores, write_jsonl


def write(path: Path, rows: list[Any]) -> Path:
    with open_writer(str(path)) as writer:
        for row in rows:
            writer.write(row)
    return path


def test_every_file_of_a_folder_is_read(tmp_path: Path) -> None:
    rows = chats(120)
    folder = tmp_path / "in"
    folder.mkdir()
    names = ["a.jsonl", "b.jsonl.gz", "c.json", "d.json.zst", "e.csv.gz", "f.tsv.zst", "g.parquet", "h.txt"]
    for name in names:
        write(folder / name, [{"turns": row["turns"]} for row in rows])
    (folder / "spark.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "spark.json.gz").write_bytes(gzip.compress((folder / "spark.json").read_bytes()))
    (folder / "_SUCCESS").touch()
    (folder / ".a.json.crc").touch()
    # CSV and Parquet hold turns as text and as lists, which have no type in common.
    lists = [path for path in folder.glob("*") if ".csv" not in path.name and ".tsv" not in path.name]
    (tmp_path / "text").mkdir()
    for path in folder.glob("*sv*"):
        path.rename(tmp_path / "text" / path.name)
    done = scored(tmp_path / "out", folder, part_rows=50)
    assert len(done.inputs) == len(lists) - 2  # _SUCCESS and what is hidden
    assert (done.rows, done.scored, done.skipped) == (8 * 120, 8 * 120, [])
    found = scores(tmp_path / "out")
    for begin in range(0, len(found), 120):
        assert [row["turns"] for row in found[begin : begin + 120]] == [row["turns"] for row in rows]
        assert [row["label"] for row in found[begin : begin + 120]] == [row["label"] for row in found[:120]]
    assert scored(tmp_path / "out2", tmp_path / "text").scored == 240


def test_unknown_file_kind_is_an_error_unless_skipped(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", chats(5))
    write_jsonl(folder / "b.log", chats(5))
    write_jsonl(folder / "c.log", chats(5))
    with pytest.raises(InputError, match=r"2 of 3 files are of an unknown kind \(.*b\.log, .*c\.log\); .*--skip-unkn"):
        scored(tmp_path / "out", folder)
    with pytest.raises(InputError, match="of an unknown kind"):
        scored(tmp_path / "out", folder / "*")
    assert not (tmp_path / "out").exists()
    assert scored(tmp_path / "all", folder, format="jsonl").scored == 15
    code, shown, _ = run("score", folder, "-o", tmp_path / "some", "-m", "nano", "--workers", "1", "--skip-unknown")
    assert code == 0
    assert "2 files" in shown
    assert "c.log" in shown
    manifest = json.loads((tmp_path / "some" / "manifest.json").read_text(encoding="utf-8"))
    assert [Path(path).name for path in manifest["skipped"]] == ["b.log", "c.log"]
    assert manifest["scored"] == 5


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"turns": ["a"]}\n{"turns": ["b"]}\n', "jsonl"),
        ('{"turns": ["a"]}', "jsonl"),
        ('{"turns": [\n{"turns": ["b"]}', "jsonl"),
        ('["a", "b"]\n["c"]', "jsonl"),
        ('["a", "b"]', "json"),
        ('[\n {"turns": ["a"]}\n]', "json"),
        ('[{"turns": ["a"]},\n {"turns": ["b"]}]', "json"),
        ('\ufeff{"turns": ["a"]}\n', "jsonl"),
    ],
)
def test_json_is_lines_or_an_array(tmp_path: Path, text: str, kind: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    assert find_inputs([str(path)]).files[0].kind == kind


def test_detect_reads_json_lines_named_json(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.json", chats(3))
    assert [record.columns for record in read_records(str(path))] == chats(3)


def test_bad_elements_of_an_array_and_a_broken_array(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"turns": ["hi"]}, 7, {"turns": []}, ["so", "happy"]]', encoding="utf-8")
    done = scored(tmp_path / "out", tmp_path / "a.json", part_rows=2)
    assert (done.scored, done.rejected) == (2, 2)
    assert [reject["row"] for reject in rejects(tmp_path / "out")] == [2, 3]
    (tmp_path / "b.json").write_text('[{"turns": ["hi"]}, ', encoding="utf-8")
    with pytest.raises(InputError, match=r"b\.json.*truncated"):
        scored(tmp_path / "broken", tmp_path / "b.json")


def test_output_inside_the_input_folder_is_not_read(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", chats(5))
    first = scored(tmp_path / "scored", tmp_path)
    assert scored(tmp_path / "scored", tmp_path) == first
    assert first.rows == 5


def test_output_of_another_run_is_not_read_unless_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_jsonl(tmp_path / "in" / "a.jsonl", chats(3))
    scored(tmp_path / "in" / "out", tmp_path / "in")
    with pytest.raises(
        InputError, match=r"in/out: holds a run of emoscope score; move it elsewhere, or name .*/scores$"
    ):
        scored(tmp_path / "again", tmp_path / "in")
    assert scored(tmp_path / "again", tmp_path / "in" / "out" / "scores").scored == 3
