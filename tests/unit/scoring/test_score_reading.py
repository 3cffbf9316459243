"""Reading rows of large tables from any position: by the rules of `emoscope detect`, without losing any."""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.scoring.columns import json_array, json_schema, unify, value_kind
from emoscope.scoring.plan import make_plan
from emoscope.scoring.reading import read_part
from emoscope.scoring.summary import ByteRange, Mark, RowSummary, join, summarise
from emoscope.tables import read_records
from emoscope.tables.formats import Format
from emoscope.tables.inputs import find_inputs
from emoscope.tables.rows import Place, text_rows
from emoscope.tables.turns import row_dialogue
from kits.score_kit import chats, write_jsonl, write_parquet

CELL = st.text(st.sampled_from('ab ,"\n\r\té😂'), max_size=6)


def rows_of(path: Path) -> list[tuple[int, dict[str, str] | None]]:
    kind = find_inputs([str(path)]).files[0].kind
    return [(row.place.line, dict(row.columns) if row.columns else None) for row in text_rows(str(path), kind)]


@given(st.lists(st.tuples(CELL, CELL), max_size=8))
@settings(max_examples=150)
def test_well_formed_csv_is_read_as_the_csv_module_reads_it(
    tmp_path_factory: pytest.TempPathFactory, rows: list
) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "text"])
    writer.writerows(rows)
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(buffer.getvalue().encode())
    assert [columns for _, columns in rows_of(path)] == [{"id": a, "text": b} for a, b in rows]


@given(st.text(st.sampled_from('ab",\n'), max_size=60))
@settings(max_examples=300)
def test_reading_may_begin_at_any_row(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_text("id,text\n" + text, encoding="utf-8")
    whole = list(text_rows(str(path), "csv"))
    for number, row in enumerate(whole):
        assert list(text_rows(str(path), "csv", row.place)) == whole[number:]


def test_a_quotation_mark_that_is_not_closed_breaks_its_own_row_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,"two\nlines"\n2,"open\n3,fine\n4,5" disk\n5,"a ""b"""\n', encoding="utf-8")
    assert rows_of(path) == [
        (2, {"id": "1", "text": "two\nlines"}),
        (4, None),
        (5, {"id": "3", "text": "fine"}),
        (6, {"id": "4", "text": '5" disk'}),
        (7, {"id": "5", "text": 'a "b"'}),
    ]


def test_a_very_long_turn_is_a_row_like_others(tmp_path: Path) -> None:
    said = "haha, 😂" * 100_000
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, ({"text": said}, {"text": "hi"}))))
    (tmp_path / "a.csv").write_text(f'id,text\n1,"{said}"\n2,hi\n', encoding="utf-8")
    (tmp_path / "a.txt").write_text(f"{said}\nhi\n", encoding="utf-8")
    formats: dict[str, Format] = {"a.jsonl": "jsonl", "a.csv": "csv", "a.txt": "text"}
    for name, format in formats.items():
        rows = [row.columns or {} for row in text_rows(str(tmp_path / name), format)]
        assert [row_dialogue(columns).texts for columns in rows] == [(said,), ("hi",)]


def test_row_that_is_not_text_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emoscope.tables.rows.MAX_ROW_BYTES", 1 << 20)
    path = tmp_path / "a.jsonl"
    lines = [
        b"\xef\xbb\xbf" + b'{"text": "a"}',
        b"",
        b'{"text": "\xff"}',
        b'{"text": "\x00"}',
        b'{"text": "\\ud800"}',
        b'{"text": "\\ud83d\\ude02"}',
        b"7",
        b'"said"',
        b'["a", "b"]',
        b'{"text": "' + b"x" * (1 << 20) + b'"}',
        b"[" * 100_000,
        b'{"text": "last"}',
    ]
    path.write_bytes(b"\n".join(lines))
    rows = list(text_rows(str(path), "jsonl"))
    assert [row.place.line for row in rows] == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert [row.columns for row in rows if row.columns is not None] == [
        {"text": "a"},
        {"text": "😂"},
        {"turns": ["said"]},
        {"turns": ["a", "b"]},
        {"text": "last"},
    ]
    problems = [row.problem for row in rows if row.columns is None]
    for problem, expected in zip(
        problems, ("UTF-8", "NUL", "surrogate", "object", "longer than", "not valid JSON"), strict=True
    ):
        assert expected in problem


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["turn1", "turn2", "turns", "text", "id"]),
            st.none() | st.text(max_size=3) | st.integers() | st.lists(st.none() | st.text(max_size=3), max_size=3),
        ),
        max_size=4,
    )
)
@settings(max_examples=150)
def test_dialogues_are_those_of_detect(tmp_path_factory: pytest.TempPathFactory, rows: list) -> None:
    path = tmp_path_factory.mktemp("same") / "a.jsonl"
    for row in rows:
        write_jsonl(path, [row])
        try:
            expected = [record.dialogue for record in read_records(str(path))]
        except InputError:
            with pytest.raises(EmoscopeError):
                row_dialogue(json.loads(json.dumps(row)))
        else:
            assert [row_dialogue(json.loads(json.dumps(row)))] == expected


def test_json_columns_get_one_type(tmp_path: Path) -> None:
    values = {"a": [1, None], "b": [1, 2.5], "c": [1, "x"], "d": [{"k": 1}], "e": [[None, "x"]], "f": [1 << 60, 1.5]}
    schema = json_schema({name: {value_kind(value) for value in found} for name, found in values.items()})
    assert [str(type) for type in schema.types] == [
        "int64",
        "double",
        "string",
        "string",
        "list<item: string>",
        "string",
    ]
    made = {field.name: json_array(values[field.name], field.type).to_pylist() for field in schema}
    assert made["c"] == ["1", "x"]
    assert made["d"] == ['{"k": 1}']
    assert made["f"] == [str(1 << 60), "1.5"]


def test_column_of_two_types_is_a_one_line_error() -> None:
    one, other = pa.schema([("id", pa.int64())]), pa.schema([("id", pa.string())])
    with pytest.raises(InputError, match=r"b\.csv: column 'id' is string, but int64 in a\.parquet"):
        unify([("a.parquet", one), ("b.csv", other)])


def test_rejected_row_does_not_affect_column_types(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"turns": ["hi"]}, {"turns": 7}, {"turns": ["hi", 3]}])
    plan = make_plan(find_inputs([str(path)]).files, {})
    assert str(plan.schema.field("turns").type) == "list<item: string>"


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_parts_hold_every_row_once_in_order(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], part_rows: int
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    rows = chats(sum(counts))
    first = 0
    for number, count in enumerate(counts):
        chosen = rows[first : first + count]
        if number % 2 and chosen:
            write_parquet(folder / f"{number}.parquet", chosen, row_group_size=7)
        else:
            write_jsonl(folder / f"{number}.jsonl", chosen)
        first += count
    plan = make_plan(find_inputs([str(folder)]).files, {}, part_rows=part_rows)
    found = [
        [row["id"] for chunk in read_part(plan, part) for row in chunk.table.to_pylist()] for part in range(plan.parts)
    ]
    assert [each for part in found for each in part] == list(range(sum(counts)))
    assert all(0 < len(part) <= part_rows for part in found)
    if part_rows >= 7:  # no row group is read for two parts
        groups = [rows.file.groups for part in range(plan.parts) for rows in plan.row_ranges(part) if rows.file.groups]
        assert len(found) <= -(-sum(counts) // part_rows) + len(groups)


@given(
    st.lists(st.sampled_from(["", '{"text": "a"}', '{"text": "a\\u0062", "id": 7}', "{broken", '["é"]']), max_size=30)
)
@settings(max_examples=100, deadline=None)
def test_ranges_of_a_file_equal_the_whole(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = write_jsonl(tmp_path_factory.mktemp("stretch") / "a.jsonl", lines)
    (source,) = find_inputs([str(path)]).files
    whole = summarise(ByteRange(source))
    assert isinstance(whole, RowSummary)
    for step in (1, 7, 40):
        begins = range(0, max(1, source.size), step)
        found = [summarise(ByteRange(source, begin, min(source.size, begin + step))) for begin in begins]
        joined = join([each for each in found if isinstance(each, RowSummary)])
        assert (joined.rows, joined.kinds, joined.lines) == (whole.rows, whole.kinds, whole.lines)
        rows = list(text_rows(str(path), "jsonl"))
        assert all(rows[mark.row].place == mark.place for mark in joined.marks)


def test_large_text_is_looked_through_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(3000))
    monkeypatch.setattr("emoscope.scoring.summary.RANGE_BYTES", 50_000)
    monkeypatch.setattr("emoscope.scoring.plan.RANGE_BYTES", 50_000)
    plan = make_plan(find_inputs([str(path)]).files, {}, part_rows=700, workers=2)
    assert plan.as_dict() == make_plan(find_inputs([str(path)]).files, {}, part_rows=700).as_dict()
    assert len(plan.files[0].marks) > 3
    found = [
        row["id"] for part in range(plan.parts) for chunk in read_part(plan, part) for row in chunk.table.to_pylist()
    ]
    assert found == list(range(3000))


def test_places_are_kept_for_every_thousandth_row(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(2500))
    plan = make_plan(find_inputs([str(path)]).files, {}, part_rows=700)
    assert [mark.place.line for mark in plan.files[0].marks] == [1, 1001, 2001]
    assert plan.files[0].marks[0] == Mark(0, Place(0, 1))
    found = [
        row["id"] for part in range(plan.parts) for chunk in read_part(plan, part) for row in chunk.table.to_pylist()
    ]
    assert found == list(range(2500))
