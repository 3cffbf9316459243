"""Samples of conversations of a range of dates."""

import json
from datetime import date
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.sources.exports import collect_chats
from emoscope.corpus.sources.sampling import DateRange, as_day, as_moment, largest_drawn, random_key, write_sample
from kits.jsonl import read_jsonl, write_jsonl
from kits.task_files import run


def logs(path: Path) -> Path:
    """Forty conversations of one to four windows, each in another month from January 2018 on."""
    rows = [
        {
            "conversation": f"c{number}",
            "time": f"{2018 + number // 12}-{1 + number % 12:02}-15T10:00:00",
            "turns": [f"hi {number}", "yes", f"so {window}"],
        }
        for window in range(4)
        for number in range(40)
        if window <= number % 4
    ]
    write_jsonl(path, rows)
    return path


def test_rows_of_one_conversation_are_drawn_together(tmp_path: Path) -> None:
    counts = write_sample(str(logs(tmp_path / "logs.jsonl")), str(tmp_path / "out.jsonl"), 10, seed=3)
    rows = read_jsonl(tmp_path / "out.jsonl")
    drawn = {row["conversation"] for row in rows}
    assert len(drawn) == counts["conversations"] == 10
    assert len(rows) == sum(int(name[1:]) % 4 + 1 for name in drawn) == counts["written"]
    write_sample(str(tmp_path / "logs.jsonl"), str(tmp_path / "more.jsonl"), 20, seed=3)
    assert drawn < {row["conversation"] for row in read_jsonl(tmp_path / "more.jsonl")}


def test_every_conversation_is_as_likely_however_long(tmp_path: Path) -> None:
    source = str(logs(tmp_path / "logs.jsonl"))
    times = dict.fromkeys(range(4), 0)
    for seed in range(60):
        write_sample(source, str(tmp_path / "out.jsonl"), 10, seed=seed)
        for name in {row["conversation"] for row in read_jsonl(tmp_path / "out.jsonl")}:
            times[int(name[1:]) % 4] += 1
    # 600 drawn, 150 of each length expected; the deviation of each is about 9.
    assert all(110 < count < 190 for count in times.values()), times


def test_only_one_year(tmp_path: Path) -> None:
    source = logs(tmp_path / "logs.jsonl")
    shown = run(
        "corpus", "sample", source, "-o", tmp_path / "out.jsonl", "--size", "99", "--since", "2019", "--until", "2019"
    )
    assert shown.exit_code == 0, shown.output
    rows = read_jsonl(tmp_path / "out.jsonl")
    assert {row["time"][:4] for row in rows} == {"2019"}
    assert len({row["conversation"] for row in rows}) == 12
    assert "outside the range of dates" in " ".join(shown.output.split())


def test_a_range_without_rows_is_a_one_line_error_and_writes_nothing(tmp_path: Path) -> None:
    source = str(logs(tmp_path / "logs.jsonl"))
    with pytest.raises(InputError, match=r"logs\.jsonl: has [\d,]+ rows, none in the range of dates"):
        write_sample(source, str(tmp_path / "out.jsonl"), 5, dates=DateRange(date(1999, 1, 1), date(1999, 1, 2)))
    assert not (tmp_path / "out.jsonl").exists()


def test_dates_and_times() -> None:
    assert as_moment("2018-05-01T12:30:00Z") in DateRange(date(2018, 5, 1), date(2018, 5, 1))
    assert as_moment("1525170600") == as_moment(1525170600.0)
    assert as_moment(True) is as_moment("soon") is as_moment(None) is None
    assert not DateRange()
    with pytest.raises(EmoscopeError, match="lies after"):
        DateRange(date(2019, 1, 1), date(2018, 1, 1))
    with pytest.raises(EmoscopeError, match="--since: expected a day"):
        as_day("spring", "--since")


def test_missing_columns_and_pipes_are_refused(tmp_path: Path) -> None:
    source = logs(tmp_path / "logs.jsonl")
    with pytest.raises(InputError, match="no column 'when'"):
        write_sample(str(source), str(tmp_path / "o.jsonl"), 1, dates=DateRange(date(2018, 1, 1)), time_column="when")
    with pytest.raises(InputError, match="names the conversation"):
        write_sample(str(source), str(tmp_path / "o.jsonl"), 1, conversation="chat")
    with pytest.raises(EmoscopeError, match="a pipe does not allow"):
        write_sample("-", "o.jsonl", 1)


def test_all_are_drawn_where_there_are_fewer() -> None:
    keys = [random_key(1, str(number)) for number in range(10_000)]
    assert largest_drawn(keys, 20_000) == 2**64
    limit = largest_drawn(keys, 5000)
    assert sum(key <= limit for key in keys) == 5000


def test_chats_know_when_they_began(tmp_path: Path) -> None:
    chat = tmp_path / "ann.txt"
    chat.write_text("31/12/2017, 21:15 - Ann: hi\n01/02/2018, 09:00 - Ann: back\n01/02/2018, 09:01 - Ben: good\n")
    dates = DateRange(date(2018, 1, 1))
    counts = collect_chats([chat], str(tmp_path / "o.jsonl"), format="whatsapp", dates=dates)
    assert (counts["dialogues"], counts["outside"]) == (1, 1)
    assert read_jsonl(tmp_path / "o.jsonl")[0]["time"] == "2018-02-01T09:00:00"
    shown = run(
        "corpus", "collect", chat, "-o", tmp_path / "p.jsonl", "--format", "whatsapp", "--until", "2017", "--json"
    )
    assert json.loads(shown.stdout)["outside"] == 1
