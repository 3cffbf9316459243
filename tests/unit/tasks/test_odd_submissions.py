"""Odd submissions, and what the official scorers do with them: their rules are written down here, once more.

IEST's script takes the first tab-separated column of every line, without blanks around it, and counts any string as a
label; lines must be as many as gold's. EmotionX's script loads JSON as UTF-8, where a byte-order mark is an error.
"""

import json
from itertools import product
from pathlib import Path

import pytest

from emoscope.core.files import MAX_LINE_BYTES
from emoscope.evaluation.score import evaluate
from emoscope.tasks import get_task

GOLD = "joy\tI am [#TRIGGERWORD#] that a\nsad\tso [#TRIGGERWORD#] when b\nfear\t[#TRIGGERWORD#] because c\n"
LABELS = ("joy", "sad", "fear")
STARTS = {"plain": "", "mark": "\ufeff", "blank": " ", "blanks": "   "}
ENDS = {
    "plain": "",
    "blank": " ",
    "text": "\tI am [#TRIGGERWORD#] that a",
    "tab": "\t",
    "texts": "\ta\tb",
    "blanks": "  \t x",
}
LINE_ENDS = {"unix": "\n", "windows": "\r\n"}
LASTS = {"newline": True, "no newline": False}
ODD_LABELS = ["", "happy", "JOY", "Joy", "joy.", "1", "jo y", "trigger"]


def officially_read(text: str) -> list[str]:
    """What the official IEST script reads; Python's universal line ends, no byte-order mark taken off."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [line.split("\t")[0].strip(" \t") for line in (lines[:-1] if lines[-1] == "" else lines)]


def cases() -> list[tuple[str, str]]:
    found = []
    for start, end, line_end, last in product(STARTS, ENDS, LINE_ENDS, LASTS):
        lines = [f"{label}{ENDS[end]}" for label in LABELS]
        lines[0] = STARTS[start] + lines[0]
        text = LINE_ENDS[line_end].join(lines) + (LINE_ENDS[line_end] if LASTS[last] else "")
        found.append((f"{start}-{end}-{line_end}-{last}", text))
    for label in ODD_LABELS:
        found.append((f"label {label!r}", f"joy\n{label}\nfear\n"))
    for name, lines in {"short": LABELS[:2], "long": (*LABELS, "joy"), "one": LABELS[:1]}.items():
        found.append((name, "\n".join(lines) + "\n"))
    return found


CASES = cases()


def test_there_are_a_hundred() -> None:
    assert len(CASES) >= 100


@pytest.mark.parametrize(("name", "text"), CASES, ids=[name for name, _ in CASES])
def test_iest_is_read_as_officially(name: str, text: str, tmp_path: Path) -> None:
    file, gold = tmp_path / "submission.txt", tmp_path / "gold.csv"
    file.write_bytes(text.encode())
    gold.write_text(GOLD)
    task = get_task("iest")
    read = [item.label or "" for item in task.submitted(file)]
    assert read == officially_read(text), name
    clean = all(label in task.labels for label in read) and len(read) == len(LABELS)
    assert (task.verify(file, gold) == []) == clean
    if len(read) == len(LABELS) and all(read):
        assert task.read_predictions(file) == read  # `evaluate` scores what `verify` checks


def test_a_label_with_a_byte_order_mark_is_an_error_that_can_be_seen(tmp_path: Path) -> None:
    file, gold = tmp_path / "submission.txt", tmp_path / "gold.csv"
    file.write_bytes("\ufeffjoy\nsad\nfear\n".encode())
    gold.write_text(GOLD)
    result = evaluate(get_task("iest"), gold, file, samples=20)
    assert result.scores.accuracy == pytest.approx(2 / 3)
    assert any(r"'\ufeffjoy' (1)" in note for note in result.notes)


def test_a_submission_may_be_one_long_line(tmp_path: Path) -> None:
    said = [[{"speaker": "A", "utterance": "hi " * 100, "emotion": "joy"}] for _ in range(4000)]
    file, gold = tmp_path / "submission.json", tmp_path / "gold.json"
    gold.write_text(json.dumps(said))
    file.write_text(json.dumps([{"name": "a", "email": "b"}, said]))
    assert file.stat().st_size > MAX_LINE_BYTES
    assert evaluate(get_task("emotionx-friends"), gold, file, samples=20).score == 1.0


DIALOGUES = [[{"speaker": "A", "utterance": "hi", "emotion": "joy"}]]


@pytest.mark.parametrize(
    ("start", "emotion", "accepted"),
    [("", "joy", True), ("\ufeff", "joy", False), (" \n", "joy", True), ("", "anger", True), ("", "happy", False)],
)
def test_emotionx(start: str, emotion: str, accepted: bool, tmp_path: Path) -> None:
    file, unlabelled = tmp_path / "submission.json", tmp_path / "unlabelled.json"
    unlabelled.write_text(json.dumps([[{"speaker": "A", "utterance": "hi"}]]))
    answers = [[{**DIALOGUES[0][0], "emotion": emotion}]]
    file.write_bytes((start + json.dumps([{"name": "a", "email": "b"}, answers])).encode())
    assert (get_task("emotionx-friends").verify(file, unlabelled) == []) == accepted
