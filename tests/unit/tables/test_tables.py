"""Dialogues from and to tables."""

import csv
import json
import pickle
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.dialogue import Detection
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.tables import open_writer, read_records
from emoscope.tables.rows import text_rows
from emoscope.tables.writing import detection_columns


def write(folder: Path, name: str, content: str) -> str:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'id,turn1,turn2\n1,hi,"a, b"\n2,yo,\n'),
        ("a.tsv", "id\tturn1\tturn2\n1\thi\ta, b\n2\tyo\t\n"),
        ("a.txt", "id\tturn1\tturn2\n1\thi\ta, b\n2\tyo\t\n"),
        ("b.txt", "hi\ta, b\nyo\n"),
        ("a.jsonl", '{"turns": ["hi", "a, b"]}\n\n["yo"]\n'),
        ("b.jsonl", '{"turns": [{"speaker": "A", "text": "hi"}, "a, b"]}\n{"text": "yo"}\n'),
        ("blank.csv", 'id,turn1,turn2\n\n1,hi,"a, b"\n  \n2,yo,\n\n'),
        ("blank.tsv", "\nid\tturn1\tturn2\n1\thi\ta, b\n\t\t\n2\tyo\t\n"),
        ("a.json", '[{"turns": ["hi", "a, b"]}, "yo"]'),
        ("c.csv", 'turns\n"[""hi"", ""a, b""]"\n"[""yo""]"\n'),
    ],
)
def test_every_format_gives_the_same_dialogues(tmp_path: Path, name: str, content: str) -> None:
    records = list(read_records(write(tmp_path, name, content)))
    assert [record.dialogue.texts for record in records] == [("hi", "a, b"), ("yo",)]


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"turns": [["hi", "a, b"], ["yo"]], "n": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    records = list(read_records(str(tmp_path / "a.parquet")))
    assert [record.dialogue.texts for record in records] == [("hi", "a, b"), ("yo",)]
    assert [record.columns["n"] for record in records] == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "a.csv",
            "id,name\n1,x\n",
            r"row 1: expected columns turn1, turn2, ..., or turns, or text; found: id, name",
        ),
        ("a.csv", "id,turn1\n1,x\n2\n", "row 3: expected 2 columns, found 1$"),
        ("a.csv", "text\nhi, you\n", "row 2: expected 1 column, found 2; text with a comma needs quotation marks$"),
        ("a.csv", "text;id\nhi;you;1\n", "row 2: expected 2 columns, found 3$"),
        ("a.csv", "id,turn1\n1,\n", "row 2: has no turns"),
        ("a.csv", 'id,turn1\n1,"open\n', "row 2: a quotation mark is not closed"),
        ("a.csv", "turn1,turn1\n1,2\n", "row 1: names a column twice"),
        ("a.jsonl", "{\n", "row 1: is not valid JSON"),
        ("a.jsonl", '["a"]\n3\n', "row 2: expected an object or a list of turns"),
        ("a.jsonl", '{"turns": "a"}\n', "row 1: 'turns' is not a JSON list"),
        ("a.jsonl", '{"turns": [1]}\n', "row 1: turn 1: expected a string, not int"),
        ("a.jsonl", '{"turns": []}\n', "row 1: has no turns"),
        ("a.jsonl", '{"turns": null}\n', "row 1: has no turns$"),
        ("a.csv", "id,turns\n1,\n", "row 2: has no turns$"),
        ("a.jsonl", '{"id": 1, "other": "a"}\n', "row 1: has no turns; expected columns .*; found: id, other"),
        ("a.jsonl", "{}\n", "row 1: has no turns; expected columns .*; found: none"),
        ("a.csv", "", "is empty"),
        ("a.csv", "\n\n", "is empty"),
        ("a.jsonl", '["a"]\n{"text": "\\ud800"}\n', "row 2: holds half of a surrogate pair"),
        ("a.json", '[["a"], {"text": "\\ud800"}]', "row 2: holds half of a surrogate pair"),
        ("a.json", '[["a"], 3]', "row 2: expected an object or a list of turns"),
        ("a.json", '[["a"], {"te', "element 2: ends early"),
        ("a.json", '{"turns":\n["a"]}', "expected a JSON list"),
        ("a.csv.gz", "turn1\nhi\n", "cannot be read"),
        ("a.csv.zst", "turn1\nhi\n", "cannot be read"),
        ("a.parquet.gz", "x", "is Parquet, which is compressed by itself"),
        ("a.csv", "turn1\n\x00\n", "row 2: holds a NUL byte"),
        ("a.parquet", "not parquet", "is not a readable Parquet file"),
    ],
)
def test_bad_files_are_one_clear_line(tmp_path: Path, name: str, content: str, expected: str) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(InputError, match=expected) as caught:
        list(read_records(path))
    assert str(caught.value).startswith(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ('["hi", "go away"]', ("hi", "go away")),
        ('[{"role": "user", "content": "go away"}]', ("go away",)),
        ("[1]", ("[1]",)),
        ("[]", ("[]",)),
        ("[sighs] fine", ("[sighs] fine",)),
    ],
)
def test_a_named_column_of_a_csv_file_may_hold_lists_of_turns(
    tmp_path: Path, cell: str, texts: tuple[str, ...]
) -> None:
    quoted = cell.replace('"', '""')
    (record,) = read_records(write(tmp_path, "a.csv", f'id,history\n1,"{quoted}"\n'), column="history")
    assert record.dialogue.texts == texts


def test_a_row_without_the_named_column_lists_those_it_has(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 2: has no column 'said'; it has: id, text"):
        list(read_records(write(tmp_path, "a.jsonl", '{"said": "hi"}\n{"id": 2, "text": "hi"}\n'), column="said"))


def test_unknown_kinds_of_file(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="unknown kind of file"):
        list(read_records(write(tmp_path, "a.xlsx", "x")))
    with pytest.raises(EmoscopeError, match="unknown format 'xml'"):
        list(read_records(write(tmp_path, "a.csv", "x"), "xml"))


CELL = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)


@given(rows=st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=1, max_size=5))
@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet", "csv.gz", "json.gz", "jsonl.zst"])
def test_written_file_can_be_read_back(
    suffix: str, rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = str(tmp_path_factory.mktemp("tables") / f"a.{suffix}")
    with open_writer(path) as writer:
        for turns in rows:
            writer.write({"turn1": turns[0], "turn2": turns[1]})
    assert [list(record.dialogue.texts) for record in read_records(path)] == rows


def test_our_columns_do_not_hide_the_users() -> None:
    made = detection_columns(Detection("sad", {"sad": 0.75, "happy": 0.25}), ["label", "turn1"])
    assert made == {"predicted_label": "sad", "truncated": False, "note": None, "score_sad": 0.75, "score_happy": 0.25}


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stop"), open_writer(str(tmp_path / "out.csv")) as writer:
        writer.write({"a": 1})
        raise ValueError("stop")
    assert list(tmp_path.iterdir()) == []


def test_json_output_is_one_object_a_line(tmp_path: Path) -> None:
    with open_writer(str(tmp_path / "out.jsonl")) as writer:
        writer.write({"text": "😂", "label": None})
    assert json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8")) == {"text": "😂", "label": None}


def test_json_arrays_are_written_whole(tmp_path: Path) -> None:
    for name, rows in (("none", []), ("two", [{"a": 1}, {"a": "é"}])):
        with open_writer(str(tmp_path / f"{name}.json")) as writer:
            for row in rows:
                writer.write(row)
        assert json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8")) == rows


def test_half_a_character_is_replaced_where_asked(tmp_path: Path) -> None:
    for name, content in (("a.jsonl", '{"text": "a \\ud800"}'), ("a.json", '[{"text": "a \\ud800"}]')):
        (record,) = read_records(write(tmp_path, name, content), replace_surrogates=True)
        assert record.dialogue.texts == ("a ?",)


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_files_are_whole_or_one_line(tmp_path: Path, suffix: str) -> None:
    rows = [{"turn1": f"number {number * number}"} for number in range(2000)]
    for name in ("a", "b"):
        with open_writer(str(tmp_path / f"{name}.jsonl.{suffix}")) as writer:
            for row in rows:
                writer.write(row)
    path = tmp_path / f"a.jsonl.{suffix}"
    content = path.read_bytes()
    assert content == (tmp_path / f"b.jsonl.{suffix}").read_bytes(), "neither a name nor a time is in it"
    assert len(content) < sum(len(json.dumps(row)) for row in rows) / 2
    assert [dict(record.columns) for record in read_records(str(path))] == rows
    path.write_bytes(content[:-7])
    with pytest.raises(InputError, match=r"a\.jsonl\.\w+: cannot be read \("):
        list(read_records(str(path)))


def test_errors_pass_through_other_processes() -> None:
    error = pickle.loads(pickle.dumps(InputError("a.csv", "is broken", row=3)))
    assert (str(error), error.path, error.problem, error.row) == ("a.csv, row 3: is broken", "a.csv", "is broken", 3)


def test_parquet_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_writer(str(tmp_path / "a.parquet")) as writer:
        writer.write({"turns": ["hi"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(EmoscopeError, match=r"needs pyarrow: pip install 'emoscope\[parquet\]'"):
        list(read_records(str(tmp_path / "a.parquet")))
    with (
        pytest.raises(EmoscopeError, match=r"needs pyarrow: pip install 'emoscope\[parquet\]'"),
        open_writer(str(tmp_path / "b.parquet")),
    ):
        pass
    assert not (tmp_path / "b.parquet").exists()


@pytest.mark.parametrize("delimiter", [",", ";", "|"])
def test_a_csv_file_is_separated_by_what_its_header_shows(delimiter: str, tmp_path: Path) -> None:
    rows = [["id", "turn1", "turn2"], ["1", "hi, you; there | now", 'a "b"\nc'], ["2", "well", "so, so"], ["", "", ""]]
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    assert [record.dialogue.texts for record in read_records(str(path))] == [tuple(row[1:]) for row in rows[1:3]]
    assert [list(row.columns.values()) for row in text_rows(str(path), "csv") if row.columns] == rows[1:3]


def test_plain_text_holds_turns_or_labels_and_nothing_else(tmp_path: Path) -> None:
    for row in ({"id": "a", "turn1": "hi"}, {"id": "a", "text": "hi", "label": "sad"}):
        with (
            pytest.raises(EmoscopeError, match="plain text cannot hold columns such as 'id'"),
            open_writer(str(tmp_path / "out.txt")) as writer,
        ):
            writer.write(row)
    assert not (tmp_path / "out.txt").exists()
