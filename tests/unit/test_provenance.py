"""Every result, blind file and table of the documentation has a record of its origin."""

import json
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.common import pages, provenance
from benchmarks.common.provenance import (
    Made,
    current_commit,
    keep,
    made,
    problems,
    problems_of_file,
    problems_of_section,
    seal,
)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository: results, blind files and pages."""
    for name, folder in (("RESULTS", "results"), ("MADE", "results/made"), ("BLIND", "blind"), ("PAGES", "docs")):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(provenance, name, tmp_path / folder)
    monkeypatch.setattr(pages, "RESULT_PAGES", tmp_path / "docs")
    monkeypatch.setattr(provenance, "SOURCES", tmp_path / "sources.toml")
    (tmp_path / "sources.toml").write_text('[page]\ntable = ["table.csv"]\n')
    return tmp_path


def test_everything_that_is_committed_has_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    # A branch under review may have been rebased since; `check` compares the commits.
    monkeypatch.setattr(provenance, "has_history", lambda: False)
    assert problems() == []


def test_a_table_without_a_record_is_refused(house: Path) -> None:
    table, page = house / "results" / "table.csv", house / "docs" / "page.md"
    table.write_text("a\n1\n")
    page.write_text("<!-- begin table: python -m benchmarks -->\nold\n<!-- end table -->\n")
    with pytest.raises(SystemExit, match="has no record of what made it"):
        pages.write_section(page, "table", "new")
    assert "old" in page.read_text()
    keep(table, made(3, {"epochs": 2}, [table]))
    pages.write_section(page, "table", "new")
    assert "new" in page.read_text()
    record = json.loads((house / "results" / "made" / "table.csv.json").read_text())
    assert (record["seed"], record["settings"], list(record["data"])) == (3, {"epochs": 2}, ["table.csv"])
    assert {"version", "commit"} <= set(record)


def test_a_table_in_no_section_is_refused(house: Path) -> None:
    page = house / "docs" / "page.md"
    section = "<!-- begin table: python -m benchmarks -->\n| a |\n|---:|\n| 1 |\n<!-- end table -->\n"
    page.write_text(f"{section}\nand by hand\n\n| b |\n|---|\n| 2 |\n")
    assert provenance.problems_of_loose_tables(page) == [
        "docs/results/page.md, line 10: the table stands in no section that says what made it"
    ]
    page.write_text(section)
    assert provenance.problems_of_loose_tables(page) == []


def test_a_printed_section_records_itself(house: Path) -> None:
    page = house / "docs" / "page.md"
    page.write_text("<!-- begin printed: python -m benchmarks -->\n<!-- end printed -->\n")
    assert problems_of_section("page", "printed")
    pages.write_section(page, "printed", "1")
    assert problems_of_section("page", "printed") == []


def test_predictions_changed_after_their_record(house: Path) -> None:
    blind = house / "blind" / "iest" / "nano.txt"
    blind.parent.mkdir()
    blind.write_text("joy\n")
    keep(blind, made(0, data=[blind]))
    assert problems_of_file(blind) == []
    blind.write_text("fear\n")
    assert "was changed after its record was written" in problems_of_file(blind)[0]


def test_a_table_changed_after_its_record(house: Path) -> None:
    table = house / "results" / "table.csv"
    table.write_text("a\n1\n")
    keep(table, made(0, note="made up"))
    assert problems_of_file(table) == []
    table.write_text("a\n2\n")
    assert "was changed after its record was written" in problems_of_file(table)[0]
    seal(table)
    assert problems_of_file(table) == []
    assert json.loads(provenance.record_of(table).read_text())["note"] == "made up"


def test_sealing_adds_only_hashes_that_are_missing(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, changed = house / "results" / "old.csv", house / "results" / "changed.csv"
    for table in (old, changed):
        table.write_text("a\n")
        keep(table, made(0, note="made up"))
    record = provenance.record_of(old)
    record.write_text(json.dumps({**json.loads(record.read_text()), "sha256": None}))
    changed.write_text("b\n")
    assert "has no sha256" in problems_of_file(old)[0]
    provenance.main(["seal"])
    assert capsys.readouterr().out == f"{old}\n"
    assert problems_of_file(old) == []
    assert "was changed" in problems_of_file(changed)[0]


def test_a_record_that_names_no_data_says_why(house: Path) -> None:
    table = house / "results" / "table.csv"
    table.write_text("a\n")
    keep(table, made(0))
    assert "names no data" in problems_of_file(table)[0]
    keep(table, made(0, note="all rows are made up"))
    assert problems_of_file(table) == []


def test_a_commit_that_is_not_in_the_history(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = house / "results" / "table.csv"
    table.write_text("a\n")
    here = made(0, data=[table])
    gone = here.model_copy(update={"commit": "1219e0d37525+"})  # of a branch that was rebased
    monkeypatch.setattr(provenance, "has_history", lambda: True)
    monkeypatch.setattr(provenance, "is_in_history", lambda commit: commit != "1219e0d37525")
    keep(table, gone)
    assert "the commit 1219e0d37525 is not in the history" in problems_of_file(table)[0]
    keep(table, here)
    assert problems_of_file(table) == []
    monkeypatch.setattr(provenance, "has_history", lambda: False)  # a shallow clone, or a folder without git
    keep(table, gone)
    assert problems_of_file(table) == []


@pytest.mark.skipif(not provenance.has_history(), reason="needs a git checkout with its whole history")
def test_git_knows_which_commits_are_in_the_history() -> None:
    assert provenance.is_in_history(current_commit().removesuffix("+"))
    assert not provenance.is_in_history("1219e0d37525")


def test_unknown_provenance_needs_a_note(house: Path) -> None:
    table = house / "results" / "table.csv"
    table.write_text("a\n")
    record = Made(version="0.1.0", commit="unknown", seed=0, settings={}, data={})
    keep(table, record)
    assert "without a note" in problems_of_file(table)[0]
    keep(table, record.model_copy(update={"note": "made before records were kept"}))
    assert problems_of_file(table) == []
    (house / "results" / "made" / "table.csv.json").write_text('{"version": "1"}')
    assert "'commit'" in problems_of_file(table)[0]


def test_the_command_notes_and_checks(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = house / "results" / "table.csv"
    table.write_text("a\n")
    with pytest.raises(SystemExit, match="1"):
        provenance.main(["check"])
    assert "table.csv" in capsys.readouterr().out
    provenance.main(["note", str(table), "--seed", "0", "--seed", "1", "--set", "folds=5", "--data", str(table)])
    with pytest.raises(SystemExit, match="0"):
        provenance.main(["check"])
    assert json.loads(provenance.record_of(table).read_text())["seed"] == [0, 1]


def test_files_made_elsewhere_are_adopted_with_a_reason(house: Path) -> None:
    (house / "results" / "table.csv").write_text("a\n")
    (house / "docs" / "page.md").write_text("<!-- begin printed: python -m benchmarks -->\n<!-- end printed -->\n")
    with pytest.raises(SystemExit, match="say why"):
        provenance.main(["adopt"])
    provenance.main(["adopt", "--note", "made elsewhere"])
    assert problems() == []
    assert json.loads((house / "results" / "made" / "table.csv.json").read_text())["note"] == "made elsewhere"
