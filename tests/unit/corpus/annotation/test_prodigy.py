"""Import and export of Prodigy files, also together with doccano's."""

import json
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.annotations import Annotations
from emoscope.corpus.annotation.files import read_annotations, write_annotations
from emoscope.corpus.annotation.items import read_items

CHOICE = {
    "text": "I passed!",
    "_input_hash": 17,
    "_task_hash": -4,
    "options": [{"id": "joy", "text": "joy"}, {"id": "sad", "text": "sad"}],
    "accept": ["joy"],
    "answer": "accept",
    "_session_id": "news-ann",
}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_choices_and_binary_answers_are_judgements(tmp_path: Path) -> None:
    path = written(
        tmp_path / "db.jsonl",
        CHOICE,
        {**CHOICE, "_session_id": "news-ben", "accept": [], "answer": "ignore"},
        {"text": "oh no", "_input_hash": 18, "label": "sad", "answer": "accept", "_annotator_id": "news-ben"},
        {"text": "oh no", "_input_hash": 18, "label": "joy", "answer": "reject", "_annotator_id": "news-ben"},
    )
    read = read_annotations([path])
    assert read.judgements == (Judgement("17", "news-ann", "joy"), Judgement("18", "news-ben", "sad"))
    assert read.data["18"] == {"text": "oh no"}


def test_several_choices_are_a_one_line_error(tmp_path: Path) -> None:
    path = written(tmp_path / "db.jsonl", CHOICE, {**CHOICE, "accept": ["joy", "sad"]})
    with pytest.raises(EmoscopeError, match=r"db.jsonl, row 2: expected one label in 'accept', found 2"):
        read_annotations([path])


def test_written_rows_can_be_read(tmp_path: Path) -> None:
    data = {"1": {"text": "I passed!", "turns": [{"text": "I passed!", "speaker": "Ana"}]}, "2": {"text": "oh"}}
    said = (Judgement("1", "ann", "joy", ("love",)), Judgement("1", "ben-jo", "joy"))
    path = tmp_path / "out.jsonl"
    write_annotations(path, Annotations(said, data), "prodigy")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row.get("accept") for row in rows] == [["joy"], ["joy"], None]
    assert all(-(2**31) <= row["_input_hash"] < 2**31 for row in rows)
    read = read_annotations([path])
    assert (read.judgements, dict(read.data)) == (said, data)
    # The file is one of tasks, too, with the names that the judgements have.
    items = read_items(path)
    assert [(item.name, item.turns[0].text) for item in items] == [("1", "I passed!"), ("2", "oh")]
    with pytest.raises(EmoscopeError, match="expected one of csv, label-studio, doccano, prodigy"):
        write_annotations(path, Annotations(said, data), "spacy")
