"""Whole tables through the filters: what is written, counted and left alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.review import Review
from emoscope.corpus.filters.shipped import error_rates
from emoscope.corpus.filters.table import filter_table
from kits.corpus_command import run
from kits.jsonl import read_jsonl, write_jsonl


class Letters:
    """Drops dialogues with a letter and masks another, so that tables can be tested without any model."""

    def __init__(self, name: str, *, drops: str = "", masks: str = "") -> None:
        self.name = name
        self.drops = drops
        self.masks = masks

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"drops": self.drops}

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        return [self._review(dialogue) for dialogue in dialogues]

    def _review(self, dialogue: Dialogue) -> Review:
        said = "".join(dialogue.texts)
        if self.drops and self.drops in said:
            return Review(dialogue, f"has {self.drops}", {"times": said.count(self.drops)})
        if self.masks and self.masks in said:
            turns = tuple(replace(turn, text=turn.text.replace(self.masks, "*")) for turn in dialogue.turns)
            return Review(Dialogue(turns, dialogue.id), masked={"letter": said.count(self.masks)})
        return Review(dialogue)


def test_reasons_counts_and_rows(tmp_path: Path) -> None:
    source = tmp_path / "log.csv"
    source.write_text("id,turn1,turn2,note\n1,ab,c,n\n2,x,b,n\n3,xy,,n\n4,d,m,m\n")
    filters = [Letters("first", drops="x"), Letters("second", drops="y", masks="m")]
    report = filter_table(str(source), tmp_path / "out", filters)
    assert (tmp_path / "out/kept.csv").read_text() == "id,turn1,turn2,note\n1,ab,c,n\n4,d,*,m\n"
    dropped = read_jsonl(tmp_path / "out/dropped.jsonl")
    assert dropped == [
        {"row": 3, "id": "2", "reasons": [{"filter": "first", "reason": "has x", "times": 1}]},
        {
            "row": 4,
            "id": "3",
            "reasons": [
                {"filter": "first", "reason": "has x", "times": 1},
                {"filter": "second", "reason": "has y", "times": 1},
            ],
        },
    ]
    written = json.loads((tmp_path / "out/report.json").read_text())
    assert written == asdict(report)
    assert {key: written[key] for key in ("read", "kept", "dropped", "changed", "file")} == {
        "read": 4,
        "kept": 2,
        "dropped": 2,
        "changed": 1,
        "file": "kept.csv",
    }
    assert written["filters"]["first"]["dropped"] == {"has x": 2}
    assert written["filters"]["second"] == {
        "settings": {"drops": "y"},
        "dropped": {"has y": 1},
        "masked": {"letter": 1},
        "error_rates": None,
    }


def test_turns_of_every_shape_are_masked(tmp_path: Path) -> None:
    rows = [
        {"turns": ["m", "a"], "turns_de": ["ma", "a"], "kept": ["m"]},
        {"turns": [{"speaker": "u", "text": "om"}]},
        {"turn1": "m", "turn1_de": "mm", "turn2": None},
        {"text": "[1] m"},
    ]
    source = write_jsonl(tmp_path / "log.jsonl", rows)
    filter_table(str(source), tmp_path / "out", [Letters("one", masks="m")])
    kept = read_jsonl(tmp_path / "out/kept.jsonl")
    assert kept == [
        {"turns": ["*", "a"], "turns_de": ["*a", "a"], "kept": ["m"]},
        {"turns": [{"speaker": "u", "text": "o*"}]},
        {"turn1": "*", "turn1_de": "**", "turn2": None},
        {"text": "[1] *"},
    ]


def test_a_list_in_a_cell(tmp_path: Path) -> None:
    source = tmp_path / "log.csv"
    source.write_text('turns\n"[""m"", ""b""]"\n')
    filter_table(str(source), tmp_path / "out", [Letters("one", masks="m")])
    assert (tmp_path / "out/kept.csv").read_text() == 'turns\n"[""*"", ""b""]"\n'


def test_other_formats(tmp_path: Path) -> None:
    filters = [Letters("one", drops="x", masks="m")]
    (tmp_path / "lines.txt").write_text("hi\tm\nx\n")
    filter_table(str(tmp_path / "lines.txt"), tmp_path / "a", filters)
    assert (tmp_path / "a/kept.txt").read_text() == "hi\t*\n"
    (tmp_path / "table.txt").write_text("id\tturn1\tturn2\n1\tm\tb\n2\tx\tb\n")
    filter_table(str(tmp_path / "table.txt"), tmp_path / "b", filters)
    assert (tmp_path / "b/kept.tsv").read_text() == "id\tturn1\tturn2\n1\t*\tb\n"
    pl.DataFrame({"tweet": ["m", "x"], "n": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    filter_table(str(tmp_path / "t.parquet"), tmp_path / "c", filters, column="tweet")
    assert pl.read_parquet(tmp_path / "c/kept.parquet").rows() == [("*", 1)]


def test_a_broken_row_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "log.jsonl"
    source.write_text('["a"]\n{"turns": 3}\n')
    with pytest.raises(EmoscopeError, match="row 2"):
        filter_table(str(source), tmp_path / "out", [Letters("one", drops="x")])
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]
    with pytest.raises(EmoscopeError, match="all filters are off"):
        filter_table(str(source), tmp_path / "out", [])


def test_all_may_be_dropped(tmp_path: Path) -> None:
    source = tmp_path / "log.csv"
    source.write_text("text\nx\n")
    report = filter_table(str(source), tmp_path / "out", [Letters("one", drops="x")])
    assert (report.read, report.kept) == (1, 0)
    assert (tmp_path / "out/kept.csv").read_text() == ""


LOG = [
    {"id": "a", "turns": ["hey how are you?", "good, and you?", "so happy today"]},
    {"id": "b", "turns": ["hey", "who is this?", "my name is Anna, mail anna@example.com"]},
    {"id": "c", "turns": ["hola como estas", "muy bien gracias", "te quiero mucho"]},
    {"id": "d", "turns": ["yaar this is so boring", "kya hua?", "kuch nahi, i am tired"]},
    {"id": "e", "turns": ["hi", "what?", "you are a fucking idiot"]},
    {"id": "f", "turns": ["lol ok"]},
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "log.jsonl", LOG)


def kept_ids(folder: Path) -> list[str]:
    return [row["id"] for row in read_jsonl(folder / "kept.jsonl")]


def test_the_command_drops(log: Path, tmp_path: Path) -> None:
    code, shown, _ = run("corpus", "filter", log, "-o", tmp_path / "out", "--json")
    assert code == 0
    answer = json.loads(shown)
    assert kept_ids(tmp_path / "out") == ["a", "f"]
    dropped = read_jsonl(tmp_path / "out/dropped.jsonl")
    assert [(row["id"], [reason["reason"] for reason in row["reasons"]]) for row in dropped] == [
        ("b", ["personal data"]),
        ("c", ["other language"]),
        ("d", ["code-mixed"]),
        ("e", ["offensive"]),
    ]
    assert "anna" not in (tmp_path / "out/dropped.jsonl").read_text().lower()
    assert all(answer["filters"][name]["error_rates"]["items"] > 100 for name in ("language", "personal"))


def test_the_report_quotes_the_rates_of_the_filter_that_ran(log: Path, tmp_path: Path) -> None:
    quoted = []
    for folder, options in (("abuse", ()), ("tweets", ("--threshold", "0.41"))):
        _, shown, _ = run("corpus", "filter", log, "-o", tmp_path / folder, "--json", *options)
        quoted.append(json.loads(shown)["filters"]["offensive"]["error_rates"])
    assert quoted == [error_rates()["abuse"], error_rates()["offensive"]]
    assert "TweetEval" not in quoted[0]["set"]


def test_the_command_masks_and_is_repeatable(log: Path, tmp_path: Path) -> None:
    options = ("--personal", "mask", "--language", "en,es,en+hi", "--offensive", "off")
    code, shown, _ = run("corpus", "filter", log, "-o", tmp_path / "one", *options)
    assert code == 0
    assert "6 of 6 dialogues kept" in shown
    assert kept_ids(tmp_path / "one") == ["a", "b", "c", "d", "e", "f"]
    assert "my name is <NAME>, mail <EMAIL>" in (tmp_path / "one/kept.jsonl").read_text()
    run("corpus", "filter", log, "-o", tmp_path / "two", *options)
    for name in ("kept.jsonl", "dropped.jsonl", "report.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_command_refuses(log: Path, tmp_path: Path) -> None:
    off = ("--personal", "off", "--offensive", "off", "--sensitive", "off", "--language", "off")
    assert "all filters are off" in run("corpus", "filter", log, "-o", tmp_path / "out", *off)[2]
    assert "no language" in run("corpus", "filter", log, "-o", tmp_path / "out", "--language", "english")[2]
    assert "no kind of personal data 'fax'" in run("corpus", "filter", log, "-o", tmp_path / "out", "--kinds", "fax")[2]
    assert not (tmp_path / "out").exists()


def test_what_a_label_loses_is_reported(tmp_path: Path) -> None:
    rows = ["x,angry"] * 15 + ["a,angry"] * 15 + ["a,happy"] * 60
    source = tmp_path / "log.csv"
    source.write_text("text,label\n" + "\n".join(rows) + "\n")
    report = filter_table(str(source), tmp_path / "out", [Letters("one", drops="x")])
    assert report.labels == {"angry": {"read": 30, "kept": 15}, "happy": {"read": 60, "kept": 60}}
    (warning,) = report.warnings()
    assert warning.startswith("50% of angry was dropped, 0% of the rest")


def test_messages_are_read_and_masked_where_they_are(tmp_path: Path) -> None:
    system, image = {"role": "system", "content": "m"}, {"type": "image_url", "image_url": "x"}
    parts = {"role": "user", "content": [{"type": "text", "text": "a"}, image]}
    rows = [{"turns": [system, {"role": "user", "content": "om", "name": "u"}, parts]}]
    source = write_jsonl(tmp_path / "log.jsonl", rows)
    filter_table(str(source), tmp_path / "out", [Letters("one", masks="m")])
    (kept,) = read_jsonl(tmp_path / "out/kept.jsonl")
    assert kept["turns"] == [{"role": "system", "content": "*"}, {"role": "user", "content": "o*", "name": "u"}, parts]
