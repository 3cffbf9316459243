"""Rows and files that `emoscope score` cannot read, and models that fail on rows."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emoscope.core.errors import EmoscopeError, InputError
from kits.fragile_model import load_broken, load_fragile
from kits.score_kit import chats, content, rejects, scored, scores, write_jsonl, write_parquet

BAD = st.sampled_from(
    ["{broken", "7", "null", '{"turns": []}', '{"turns": 5}', '{"turns": ["a", 5]}', '{"id": 1}', '{"text": "\\ud800"}']
)

GOOD = st.sampled_from(['{"turns": ["hi", "so happy"]}', '{"turn1": "a", "turn2": "b"}', '["why"]', '{"text": "no"}'])


@given(lines=st.lists(BAD | GOOD | st.just(""), max_size=40), part_rows=st.integers(1, 20))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_in_are_rows_out(tmp_path_factory: pytest.TempPathFactory, lines: list[str], part_rows: int) -> None:
    folder = tmp_path_factory.mktemp("rows")
    path = write_jsonl(folder / "a.jsonl", lines)
    done = scored(folder / "out", path, part_rows=part_rows)
    assert done.rows == sum(line != "" for line in lines)
    good = [line for line in lines if line.startswith(('{"turns": ["hi"', '{"turn1', '["why', '{"text": "no'))]
    assert done.scored == len(good)
    broken = [number for number, line in enumerate(lines, start=1) if line and line not in good]
    assert [reject["row"] for reject in rejects(folder / "out")] == broken
    assert all(reject["reason"] and reject["file"] == str(path) for reject in rejects(folder / "out"))


@given(st.lists(st.none() | st.lists(st.none() | st.text(max_size=4), max_size=3), min_size=1, max_size=30))
@settings(max_examples=30, deadline=None)
def test_parquet_rows_in_are_rows_out(tmp_path_factory: pytest.TempPathFactory, turns: list) -> None:
    folder = tmp_path_factory.mktemp("parquet")
    table = pa.table({"turns": pa.array(turns, pa.list_(pa.string()))})
    pq.write_table(table, folder / "a.parquet", row_group_size=4)
    done = scored(folder / "out", folder / "a.parquet", part_rows=7)
    assert done.scored == sum(any(turn not in (None, "") for turn in row or ()) for row in turns)


def test_strict_stops_at_the_first_bad_row(tmp_path: Path) -> None:
    rows: list[Any] = chats(4000)
    rows[1500], rows[3500] = "{broken", {"turns": 7}
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    for workers in (1, 2):
        with pytest.raises(EmoscopeError, match=r"a\.jsonl, row 1501: is not valid JSON"):
            scored(tmp_path / f"out{workers}", path, strict=True, workers=workers)
    assert scored(tmp_path / "out1", path).rejected == 2
    with pytest.raises(EmoscopeError, match="row 1501"):
        scored(tmp_path / "out1", path, strict=True)


def test_invalid_parquet_file_is_named_and_the_others_are_scored(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", chats(10))
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-30])
    done = scored(tmp_path / "out", tmp_path / "*.parquet")
    assert done.scored == 10
    assert done.unreadable[0]["path"].endswith("b.parquet")
    listed = json.loads((tmp_path / "out" / "rejects" / "files.jsonl").read_text(encoding="utf-8"))
    assert listed["file"].endswith("b.parquet")
    assert "not a readable Parquet file" in listed["reason"]
    with pytest.raises(InputError, match=r"b\.parquet: is not a readable Parquet file"):
        scored(tmp_path / "strict", tmp_path / "*.parquet", strict=True)
    with pytest.raises(EmoscopeError, match=r"b\.parquet: is not a readable Parquet file"):
        scored(tmp_path / "out", tmp_path / "*.parquet", strict=True)
    with pytest.raises(InputError, match=r"b\.parquet: is not a readable Parquet file"):
        scored(tmp_path / "alone", tmp_path / "b.parquet")


def test_damaged_pages_are_rejected_row_by_row(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", chats(400), row_group_size=100, compression="zstd")
    column = pq.ParquetFile(path).metadata.row_group(1).column(1)
    damaged = bytearray(path.read_bytes())
    begin = column.dictionary_page_offset or column.data_page_offset
    damaged[begin : begin + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(damaged)
    done = scored(tmp_path / "out", path, part_rows=70)
    assert (done.rows, done.rejected) == (400, 100)
    assert [reject["row"] for reject in rejects(tmp_path / "out")] == list(range(101, 201))
    assert [row["id"] for row in scores(tmp_path / "out")] == [*range(100), *range(200, 400)]
    scored(tmp_path / "two", path, part_rows=70, workers=2)
    assert content(tmp_path / "out") == content(tmp_path / "two")


def test_a_missing_column(tmp_path: Path) -> None:
    good = write_parquet(tmp_path / "a.parquet", chats(5))
    without = write_parquet(tmp_path / "b.parquet", [{"id": 1, "said": "hi"}] * 3)
    done = scored(tmp_path / "out", good, without)
    assert (done.scored, done.rejected) == (5, 3)
    assert rejects(tmp_path / "out")[0]["reason"].startswith("has no turns; expected columns turn1")
    with pytest.raises(InputError, match=r"b\.parquet: expected columns turn1.*found: id, said"):
        scored(tmp_path / "none", without)


def with_bad_words(count: int) -> list[Any]:
    rows: list[Any] = chats(count)
    rows[3]["turns"][1] = "poison"
    rows[4] = "{broken"
    rows[count // 2] = {"turns": ["poison", "hollow"]}
    rows[-1] = {"turns": ["hollow"]}
    rows[-2] = {"turns": ["poison", "hollow"]}
    return rows


@pytest.mark.parametrize("workers", [1, 2])
def test_a_row_on_which_the_model_fails_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr("emoscope.scoring.score_tables.load", load_fragile)
    rows = with_bad_words(3000)
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    done = scored(tmp_path / "out", path, workers=workers)
    fails = "the model fails on it (ArithmeticError: cannot bear this)"
    found = [(reject["row"], reject["reason"]) for reject in rejects(tmp_path / "out")]
    assert found[1][1].startswith("is not valid JSON")
    assert [*found[:1], *found[2:]] == [
        (4, fails),
        (1501, fails),
        (2999, fails),
        (3000, "the model's answer to it is not a number"),
    ]
    bad = {3, 4, 1500, 2998, 2999}
    assert [row["id"] for row in scores(tmp_path / "out")] == [place for place in range(3000) if place not in bad]
    assert done.rejected == 5
    with pytest.raises(EmoscopeError, match=r"a\.jsonl, row 4: the model fails on it \(ArithmeticError"):
        scored(tmp_path / "strict", path, strict=True, workers=workers)


def test_a_failing_row_of_parquet_is_known_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emoscope.scoring.score_tables.load", load_fragile)
    rows = chats(30)
    rows[7]["turns"], rows[20]["turns"] = [], ["poison"]
    done = scored(tmp_path / "out", write_parquet(tmp_path / "a.parquet", rows, row_group_size=8), part_rows=10)
    assert [reject["row"] for reject in rejects(tmp_path / "out")] == [8, 21]
    assert done.scored == 28


def test_a_model_that_fails_on_everything_is_not_the_rows_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", chats(20))
    with monkeypatch.context() as patch:
        patch.setattr("emoscope.scoring.score_tables.load", load_broken)
        with pytest.raises(EmoscopeError, match=r"^model nano fails on any dialogue \(OSError: weights are gone\)$"):
            scored(tmp_path / "out", path)
    assert scored(tmp_path / "out", path).scored == 20
