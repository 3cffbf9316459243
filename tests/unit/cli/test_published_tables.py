"""`emoscope tasks NAME --published`: the papers' tables, for people and programs."""

import json

import pytest

from kits.corpus_command import run, stdout_of


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def cells(task: str) -> list[list[str]]:
    return [line.split() for line in stdout_of("tasks", task, "--published").splitlines()]


def test_iest_tables_3_4_5_9_and_10() -> None:
    rows = cells("iest")
    assert ["1", "1", "Amobee", "0.7145", "3"] in rows  # Table 5, with column B
    assert ["20", "-", "Baseline", "0.5988", "21"] in rows
    fear = {"Table": [], "fear": []}
    for row in rows:
        if row and row[0] in fear:
            fear[row[0]].append(row[1:])
    assert [row[0] for row in fear["Table"]] == ["5:", "10:", "3:", "4:", "9:"]
    assert fear["fear"] == [
        ["430", "249", "3,016", "327", "251", "518"],
        ["403", "129", "3,490", "196", "190", "383"],
        ["94", "20", "265", "92", "120", "42"],
    ]
    figures = next(row for row in rows if row[:1] == ["Sentylic"])  # Table 10: P, R and F1 of six classes
    assert figures[1:7] == ["0.63", "0.61", "0.62", "0.69", "0.69", "0.69"] and len(figures) == 19


def test_emocontext_tables_5_and_6() -> None:
    rows = cells("emocontext")
    assert ["1", "Leo1020", "0.7959"] in rows and ["-", "Baseline", "0.5861"] in rows
    nelec = next(row for row in rows if row[:1] == ["NELEC"])  # P, R and F1 of angry, happy and sad
    assert nelec[1:] == ["0.7470", "0.8322", "0.7873", "0.7632", "0.7148", "0.7382", "0.7938", "0.8160", "0.8047"]
    assert ["0.7959", "0.0143", "0.6599", "0.6940", "0.6370", "0.7317", "0.1264"] in rows


def test_emotionx_has_scores_as_printed_and_unknown_ones() -> None:
    rows = cells("emotionx-push")
    assert ["1", "IDEA", "0.885"] in rows and ["-", "KU", "-"] in rows


def test_json_holds_every_table() -> None:
    told = json.loads(stdout_of("tasks", "iest", "--published", "--json"))
    assert [each["source"]["table"] for each in told["confusions"]] == ["Table 3", "Table 4", "Table 9"]
    assert told["entries"][0]["per_class"]["joy"] == [0.82, 0.82, 0.82]
    told = json.loads(stdout_of("tasks", "emocontext", "--published", "--json"))
    assert told["statistics"]["standard_deviation"] == 0.1264


def test_it_needs_a_task() -> None:
    assert run("tasks", "--published")[::2] == (2, "--published: name a task")
