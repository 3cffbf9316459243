"""The benchmarks' result tables and the generated sections of pages."""

import json
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.common import pages
from benchmarks.common.pages import write_section
from benchmarks.common.paths import RESULTS
from benchmarks.common.tables import read_rows, replace_row, write_rows


def test_the_figures_in_readme_and_guide_are_the_measured_ones() -> None:
    from benchmarks.readme import stale

    assert stale() == [], "run: python -m benchmarks.readme"


def test_values_survive_a_round_trip(tmp_path: Path) -> None:
    rows = [
        {"name": "a, b", "score": 0.5, "runs": 3, "kept": True, "weights": [0.1, 2], "settings": {"folds": 2}},
        {"name": "12", "note": "null", "score": 1e-05, "text": "two\nlines", "settings": {}},
    ]
    write_rows(tmp_path / "t.csv", [{**rows[0], "note": None}, rows[1]])
    assert read_rows(tmp_path / "t.csv") == rows
    assert read_rows(tmp_path / "none.csv") == []


def test_a_row_replaces_the_one_with_the_same_keys(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    for system, run, score in (("b", "fold0", 1), ("a", "fold1", 2), ("b", "fold0", 3)):
        replace_row(table, {"system": system, "run": run, "score": score}, ("system", "run"))
    assert [(row["system"], row["score"]) for row in read_rows(table)] == [("a", 2), ("b", 3)]
    replace_row(table, {"score": 4, "note": "late", "run": "fold0", "system": "0"}, ("system", "run"))
    assert table.read_text().splitlines()[0] == "system,run,score,note"  # the order of columns stays


def test_a_section_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# T\n\n<!-- begin one: make -->\nold\n<!-- end one -->\n\nkept\n")
    write_section(page, "one", "\nnew\n")
    assert page.read_text() == "# T\n\n<!-- begin one: make -->\nnew\n<!-- end one -->\n\nkept\n"
    with pytest.raises(SystemExit, match="expected one section named two, found 0"):
        write_section(page, "two", "new")


def test_printed_text_becomes_a_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "PAGES", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("<!-- begin one: make -->\nold\n<!-- end one -->\n")
    for write, content in ((False, "old"), (True, "new")):
        with pages.printed_section("page", "one", write=write):
            print("new", flush=True)
        assert page.read_text() == f"<!-- begin one: make -->\n{content}\n<!-- end one -->\n"
    assert capsys.readouterr().out == "new\nnew\n"


def test_the_committed_tables_can_be_read() -> None:
    for path in RESULTS.glob("*.csv"):
        assert read_rows(path), path
    assert all(json.loads(path.read_text()) for path in RESULTS.rglob("*.json"))
