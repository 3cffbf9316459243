"""Vote strings are written as they are read."""

from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.aggregate import aggregate_votes
from emoscope.corpus.annotation.panel import write_labels
from emoscope.tasks.emotionx import vote_string


def test_vote_strings(tmp_path: Path) -> None:
    results = aggregate_votes({"1": {"neutral": 2, "surprise": 3}, "2": {"joy": 5}})
    write_labels(tmp_path / "labels.csv", results, vote_strings=True)
    rows = [line.split(",") for line in (tmp_path / "labels.csv").read_text().splitlines()]
    assert [row[-1] for row in rows] == ["annotation", "2000030", "0500000"]
    write_labels(tmp_path / "labels.jsonl", results, vote_strings=True)
    assert '"annotation": "2000030"' in (tmp_path / "labels.jsonl").read_text()


@pytest.mark.parametrize(("votes", "problem"), [({"happy": 1}, "no place for 'happy'"), ({"joy": 10}, "10 votes")])
def test_labels_that_do_not_fit_a_vote_string_are_refused(votes: dict[str, int], problem: str) -> None:
    with pytest.raises(EmoscopeError, match=problem):
        vote_string(votes)
