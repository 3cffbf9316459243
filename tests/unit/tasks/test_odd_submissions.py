"""Odd submissions, and what the official scorers do with them: their rules are written down here, once more.

IEST's script takes the first tab-separated column of every line, without blanks after it, and counts any string as a
label; lines must be as many as gold's. It works on bytes, where only ASCII has blanks. EmotionX's script loads JSON as
UTF-8, where a byte-order mark is an error, NaN is not, and the last of equal keys counts; it compares speakers and
utterances, dialogue by dialogue, and wants one of four emotions. `verify` accepts what they score, and warns of labels
that IEST's script counts as wrong; the server refuses those, too. No script of EmoContext was at hand.
"""

import gzip
import io
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from emoscope.cli.app import app
from emoscope.core.errors import InputError
from emoscope.core.files import MAX_LINE_BYTES
from emoscope.evaluation.score import evaluate
from emoscope.server.challenge.services.uploads import refusals
from emoscope.tasks import get_task

GOLD = "joy\tI am [#TRIGGERWORD#] that a\nsad\tso [#TRIGGERWORD#] when b\nfear\t[#TRIGGERWORD#] because c\n"
LABELS = ("joy", "sad", "fear")
STARTS = {"plain": "", "mark": "\ufeff", "blank": " ", "tab": "\t"}
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
ODD_LABELS = ["", "happy", "JOY", "Joy", "joy.", "1", "jo y", "trigger", "sad\v", "sad\f", "sad\xa0", "sad\u2003"]
ODD_LABELS += ["\u2028sad", "sad\x1c", "sad\u200b", "sad\r", "\ufeffsad", '"sad"', "sadness", "nan", "sad,x", "sad\x1a"]


def officially_read(text: str) -> list[str]:
    """What the official IEST script reads."""
    return [line.split(b"\t")[0].rstrip().decode() for line in io.BytesIO(text.encode())]


def official_score(said: list[str]) -> float:
    """Macro-F1 over every label of gold or submission, whatever it is; each label of `LABELS` is once in gold."""
    hits = {label: float(label == answer) for label, answer in zip(LABELS, said, strict=True)}
    return sum(2 * hits.get(label, 0.0) / (1 + said.count(label)) for label in LABELS) / len({*LABELS, *said})


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
    found, scored = task.check(file, gold), len(read) == len(LABELS)
    assert (found.problems == []) == scored
    wrong = [f"row {row}" for row, label in enumerate(read, start=1) if label not in task.labels]
    assert [warning.split(", ")[1].split(":")[0] for warning in found.warnings] == wrong
    assert (refusals(task, file, gold, file_name="mine.txt", items=3) == []) == (scored and not wrong)
    if scored:
        result = evaluate(task, gold, file, samples=2)
        assert result.score == pytest.approx(official_score(read))
        assert sum(result.outside.values()) == len(wrong)
    else:
        with pytest.raises(InputError, match="labels, expected 3"):
            evaluate(task, gold, file, samples=2)


BYTES = {
    "Latin-1 after a tab": (b"joy\tol\xe9 [#TRIGGERWORD#]\nsad\tx\nfear\ty\n", 1.0),
    "a NUL after a tab": (b"joy\t\0\nsad\nfear\n", 1.0),
    "Latin-1 in a label": (b"joy\nsad\xe9\nfear\n", 2 / 4),
    "a next-line character of Latin-1 after a label": (b"joy\nsad\x85\nfear\n", 2 / 4),
    "a NUL after a label": (b"joy\nsad\0\nfear\n", 2 / 4),
    "two labels that are no text": (b"joy\xff\nsad\xfe\nfear\n", 1 / 5),
    "UTF-16": ("joy\nsad\nfear\n".encode("utf-16"), None),
}


@pytest.mark.parametrize("name", BYTES)
def test_iest_reads_bytes(name: str, tmp_path: Path) -> None:
    content, expected = BYTES[name]
    file, gold = tmp_path / "submission.txt", tmp_path / "gold.csv"
    file.write_bytes(content)
    gold.write_text(GOLD)
    task = get_task("iest")
    found = task.check(file, gold)
    assert (found.problems == []) == (expected is not None)
    if expected is None:
        with pytest.raises(InputError, match="has 4 labels, expected 3"):
            evaluate(task, gold, file, samples=2)
    else:
        assert evaluate(task, gold, file, samples=2).score == pytest.approx(expected)
        assert (found.warnings == []) == (expected == 1.0)


def test_a_label_with_a_byte_order_mark_is_an_error_that_can_be_seen(tmp_path: Path) -> None:
    file, gold = tmp_path / "submission.txt", tmp_path / "gold.csv"
    file.write_bytes("\ufeffjoy\nsad\nfear\n".encode())
    gold.write_text(GOLD)
    result = evaluate(get_task("iest"), gold, file, samples=20)
    assert result.scores.accuracy == pytest.approx(2 / 3)
    assert any(r"'\ufeffjoy' (1)" in note for note in result.notes)


def test_the_command_warns_of_what_is_scored_as_wrong(tmp_path: Path) -> None:
    file, gold = tmp_path / "submission.txt", tmp_path / "gold.csv"
    file.write_bytes("\ufeffjoy\n\nnan\n".encode())
    gold.write_text(GOLD)
    result = CliRunner().invoke(app, ["verify", str(file), "--task", "iest", "--against", str(gold)])
    known = "expected one of anger, disgust, fear, joy, sad, surprise"
    assert (result.exit_code, result.stdout.splitlines()) == (
        0,
        [
            f"{file}: accepted",
            f"scored as wrong officially: {file}, row 1: unknown label '\\ufeffjoy', {known}; did you mean 'joy'?",
            f"scored as wrong officially: {file}, row 2: label is missing",
            f"scored as wrong officially: {file}, row 3: unknown label 'nan', {known}",
        ],
    )
    file.write_text("joy\nnan\n")
    result = CliRunner().invoke(app, ["verify", str(file), "--task", "iest", "--against", str(gold), "--json"])
    found = json.loads(result.stdout)
    assert (result.exit_code, found["accepted"], len(found["problems"]), len(found["warnings"])) == (1, False, 1, 1)


def test_verify_and_evaluate_refuse_a_file_of_something_else(tmp_path: Path) -> None:
    file, gold = tmp_path / "submission.txt", tmp_path / "gold.csv"
    gold.write_text(GOLD * 10)
    file.write_text("".join(f"word{number}\n" for number in range(30)))
    (problem,) = get_task("iest").verify(file, gold)
    assert problem == f"{file}: has 30 labels that iest does not have, such as 'word0'; expected predictions for iest"
    with pytest.raises(InputError, match="has 30 labels that iest does not have"):
        evaluate(get_task("iest"), gold, file, samples=2)


def test_a_submission_may_be_one_long_line(tmp_path: Path) -> None:
    said = [[{"speaker": "A", "utterance": "hi " * 100, "emotion": "joy"}] for _ in range(4000)]
    file, gold = tmp_path / "submission.json", tmp_path / "gold.json"
    gold.write_text(json.dumps(said))
    file.write_text(json.dumps([{"name": "a", "email": "b"}, said]))
    assert file.stat().st_size > MAX_LINE_BYTES
    assert evaluate(get_task("emotionx-friends"), gold, file, samples=20).score == 1.0


# EmotionX: odd submissions to these three dialogues, and whether the official script would accept them.

SAID = [
    [{"speaker": "Ross", "utterance": "Hi"}, {"speaker": "Rachel", "utterance": "It’s you! 😂"}],
    [{"speaker": "Joey", "utterance": "Oh"}, {"speaker": "Ross", "utterance": "No"}],
    [{"speaker": "Ross", "utterance": "No"}],
]
EMOTIONS = [["joy", "surprise"], ["sadness", "neutral"], ["anger"]]  # of gold
Document = list[Any]


def labelled(emotions: list[list[str]]) -> Document:
    return [
        [{**line, "emotion": emotion} for line, emotion in zip(lines, said, strict=True)]
        for lines, said in zip(SAID, emotions, strict=True)
    ]


def changed(change: Callable[[Document, Document], Any]) -> str:
    """The JSON of a good submission after a change of its two parts, or what the change makes of them."""
    document = [{"name": "A", "email": "b"}, labelled([["joy", "neutral"], ["sadness", "joy"], ["anger"]])]
    return json.dumps(change(*document) or document)  # type: ignore[arg-type]


def first(**values: Any) -> str:
    """A submission whose first line has other values; those that are `...` are left out."""

    def change(_: Document, dialogues: Document) -> None:
        kept = {**dialogues[0][0], **values}.items()
        dialogues[0][0] = {key: value for key, value in kept if value is not ...}

    return changed(change)


GOOD = changed(lambda *_: None)
JOY = '"emotion": "joy"'


def good(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


ACCEPTED: dict[str, str | bytes] = {
    "plain": GOOD,
    "blanks around": f" \r\n{GOOD}\n\t",
    "indented, Windows": json.dumps(json.loads(GOOD), indent=2).replace("\n", "\r\n"),
    "unescaped": json.dumps(json.loads(GOOD), ensure_ascii=False),
    "another key": first(confidence=0.5),
    "NaN in another key": first(annotation=float("nan")),
    "Infinity in another key": first(score=float("-inf")),
    "an escaped NUL in another key": first(annotation="\0"),
    "half a pair in another key": first(annotation="\ud83d"),
    "equal keys": good(JOY, f"{JOY}, {JOY}"),
    "the last of two keys is a label": good(JOY, f'"emotion": "happy", {JOY}'),
    "a name twice": good('"name": "A"', '"name": "A", "name": "B"'),
    "an author of nulls": changed(lambda who, said: [dict.fromkeys(who), said]),
    "an author with a team": changed(lambda who, said: [{**dict.fromkeys(who, "x"), "team": "Joy"}, said]),
}
REFUSED: dict[str, str | bytes] = {
    "a byte-order mark": f"\ufeff{GOOD}",
    "a blank that is not of JSON before": f"\xa0{GOOD}",
    "a blank that is not of JSON after": f"{GOOD}\u2003",
    "a blank that is not of JSON between": good("}, [", "},\v["),
    "text after the end": f"{GOOD}]",
    "a comma before the end": f"{GOOD[:-1]},]",
    "a comment": f"// mine\n{GOOD}",
    "cut": GOOD[:-30],
    "the last character is missing": GOOD[:-1],
    "quotes of Python": str(json.loads(GOOD)),
    "one value a line": "\n".join(json.dumps(part) for part in json.loads(GOOD)),
    "a tab in a string": good("Ross", "Ro\tss"),
    "nested a thousand times": good(JOY, f'{JOY}, "x": {"[" * 100_000}{"]" * 100_000}'),
    "UTF-16": GOOD.encode("utf-16"),
    "UTF-16 without a mark": GOOD.encode("utf-16-le"),
    "UTF-32": GOOD.encode("utf-32"),
    "Latin-1": good(JOY, f'{JOY}, "x": "é"').encode("latin-1"),
    "compressed": gzip.compress(GOOD.encode()),
    "empty": "",
    "blanks": " \n",
    "null": "null",
    "an empty list": "[]",
    "no author": changed(lambda _, said: said),
    "no dialogues": changed(lambda who, _: [who]),
    "three parts": changed(lambda who, said: [who, said, 1]),
    "the parts swapped": changed(lambda who, said: [said, who]),
    "an object": changed(lambda who, said: {"author": who, "dialogues": said}),
    "an author without an address": changed(lambda _, said: [{"name": "A"}, said]),
    "an author as a list": changed(lambda _, said: [["name", "email"], said]),
    "dialogues as an object": changed(lambda who, said: [who, dict(enumerate(said))]),
    "a dialogue as an object": changed(lambda who, said: [who, [dict(enumerate(said[0])), *said[1:]]]),
    "flat": changed(lambda who, said: [who, [line for lines in said for line in lines]]),
    "nested once more": changed(lambda who, said: [who, [said]]),
    "two dialogues in one": changed(lambda who, said: [who, [said[0] + said[1], said[2]]]),
    "a dialogue in two": changed(lambda who, said: [who, [said[0][:1], said[0][1:], *said[1:]]]),
    "dialogues in another order": changed(lambda who, said: [who, [said[1], said[0], said[2]]]),
    "lines in another order": changed(lambda who, said: [who, [said[0][::-1], *said[1:]]]),
    "a dialogue less": changed(lambda who, said: [who, said[:2]]),
    "a dialogue more": changed(lambda who, said: [who, [*said, said[2]]]),
    "an empty dialogue more": changed(lambda who, said: [who, [*said, []]]),
    "a line less": changed(lambda who, said: [who, [said[0][:1], *said[1:]]]),
    "a line as text": changed(lambda who, said: [who, [["joy", "neutral"], *said[1:]]]),
    "another speaker": first(speaker="ROSS"),
    "no speaker": first(speaker=...),
    "another utterance": first(utterance="Hi "),
    "an utterance as a number": first(utterance=1),
    "no emotion": first(emotion=...),
    "a null emotion": first(emotion=None),
    "an empty emotion": first(emotion=""),
    "a foreign emotion": first(emotion="happy"),
    "an emotion that is not scored": first(emotion="surprise"),
    "an emotion in capitals": first(emotion="JOY"),
    "an emotion with a blank": first(emotion="joy "),
    "an emotion as a list": first(emotion=["joy"]),
    "an emotion as a number": first(emotion=1),
    "an emotion that is NaN": first(emotion=float("nan")),
    "the last of two keys is no label": good(JOY, f'{JOY}, "emotion": "happy"'),
}
ODD = {**dict.fromkeys(ACCEPTED, True), **dict.fromkeys(REFUSED, False)}


@pytest.mark.parametrize(("name", "accepted"), ODD.items(), ids=ODD)
def test_emotionx(name: str, accepted: bool, tmp_path: Path) -> None:
    content = {**ACCEPTED, **REFUSED}[name]
    file = tmp_path / "submission.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    unlabelled, gold = tmp_path / "unlabelled.json", tmp_path / "gold.json"
    unlabelled.write_text(json.dumps(SAID))
    gold.write_text(json.dumps(labelled(EMOTIONS)))
    assert decisions("emotionx-friends", file, unlabelled, gold) == [accepted] * 3


def test_a_foreign_emotion_ends_the_evaluation_where_it_is_scored(tmp_path: Path) -> None:
    file, gold = tmp_path / "submission.json", tmp_path / "gold.json"
    gold.write_text(json.dumps(labelled(EMOTIONS)))
    task = get_task("emotionx-friends")
    file.write_text(first(emotion="happy"))
    with pytest.raises(InputError, match="dialogue 1, line 1: unknown label 'happy'"):
        evaluate(task, gold, file, samples=2)
    file.write_text(good("neutral", "fear"))  # the gold label is surprise, which is not scored
    assert evaluate(task, gold, file, samples=2).scores.items == 4


def test_a_comma_before_the_end_is_not_called_a_cut(tmp_path: Path) -> None:
    file, unlabelled = tmp_path / "submission.json", tmp_path / "unlabelled.json"
    file.write_text(f"{GOOD[:-1]},]")
    unlabelled.write_text(json.dumps(SAID))
    assert get_task("emotionx-friends").verify(file, unlabelled) == [
        f"{file}, after element 2: has a comma before the end of its list"
    ]
    file.write_text(f"{GOOD[:-1]},")
    assert "truncated" in get_task("emotionx-friends").verify(file, unlabelled)[0]


def decisions(name: str, file: Path, unlabelled: Path, gold: Path) -> list[bool]:
    """Whether `verify`, the server and `evaluate` (without foreign labels) accept a submission."""
    task = get_task(name)
    try:
        scored = evaluate(task, gold, file, samples=2).outside == {}
    except InputError as error:
        assert error.path == str(file)
        scored = False
    uploaded = refusals(task, file, unlabelled, file_name=file.name, items=5)
    return [task.verify(file, unlabelled) == [], uploaded == [], scored]


# EmoContext: our own reading of the format.

HEADER = "id\tturn1\tturn2\tturn3\tlabel"
ROWS = ["0\thi\tyo\tI passed 😂\thappy", '1\tno\t"why\tso\tsad', "2\ta\tb\tc  \tothers"]


def table(*rows: str, header: str = HEADER, end: str = "\n") -> str:
    return "".join(f"{row}{end}" for row in (header, *rows))


def emocontext_cases() -> list[tuple[str, str | bytes, bool]]:
    plain, (zero, one, two) = table(*ROWS), ROWS
    return [
        ("plain", plain, True),
        ("a byte-order mark", f"\ufeff{plain}", True),
        ("Windows", table(*ROWS, end="\r\n"), True),
        ("no newline at the end", plain[:-1], True),
        ("blanks at the end", table(*(f"{row} " for row in ROWS)), True),
        ("a blank before a label", table(zero.replace("happy", " happy"), one, two), True),
        ("a blank in the header", table(*ROWS, header=f"{HEADER} "), True),
        ("two byte-order marks", f"\ufeff\ufeff{plain}", False),
        ("only carriage returns", table(*ROWS, end="\r"), False),
        ("tabs at the end", table(*(f"{row}\t" for row in ROWS)), False),
        ("a blank line at the end", f"{plain}\n", False),
        ("a line of blanks at the end", f"{plain}   \n", False),
        ("a blank line between", table(zero, "", one, two), False),
        ("a row less", table(zero, one), False),
        ("a row more", table(*ROWS, "3\tx\ty\tz\tsad"), False),
        ("a row twice", table(*ROWS, two), False),
        ("a row instead of another", table(zero, one, one), False),
        ("another order", table(one, zero, two), False),
        ("another id", table(f"9{zero[1:]}", one, two), False),
        ("an id with zeros", table(f"0{zero}", one, two), False),
        ("no id", table(zero[1:], one, two), False),
        ("a foreign label", table(zero.replace("happy", "joy"), one, two), False),
        ("a label in capitals", table(zero.replace("happy", "Happy"), one, two), False),
        ("a label in quotes", table(zero.replace("happy", '"happy"'), one, two), False),
        ("a label as a number", table(zero.replace("happy", "1"), one, two), False),
        ("NaN", table(zero.replace("happy", "nan"), one, two), False),
        ("no label", table(zero.replace("happy", ""), one, two), False),
        ("quoted as CSV", table(zero, one.replace('"why', '"""why"'), two), False),
        ("commas", plain.replace("\t", ","), False),
        ("a turn without its blanks", table(zero, one, two.replace("c  ", "c")), False),
        ("no header", "\n".join(ROWS), False),
        ("the header twice", table(HEADER, *ROWS), False),
        ("a header in capitals", table(*ROWS, header=HEADER.upper()), False),
        ("the unlabelled file", table(*(row.rpartition("\t")[0] for row in ROWS), header=HEADER[:-6]), False),
        ("a column of row numbers", table(*(f"{row[0]}\t{row}" for row in ROWS), header=f"\t{HEADER}"), False),
        ("ids and labels", "id\tlabel\n0\thappy\n1\tsad\n2\tothers\n", False),
        ("only the header", f"{HEADER}\n", False),
        ("JSON", json.dumps([row.split("\t") for row in ROWS]), False),
        ("UTF-16", plain.encode("utf-16"), False),
        ("Latin-1", plain.replace("😂", "é").encode("latin-1"), False),
        ("a NUL byte", plain.replace("happy", "happy\0"), False),
        ("compressed", gzip.compress(plain.encode()), False),
        ("empty", "", False),
    ]


EMOCONTEXT = emocontext_cases()


@pytest.mark.parametrize(("name", "content", "accepted"), EMOCONTEXT, ids=[case[0] for case in EMOCONTEXT])
def test_emocontext(name: str, content: str | bytes, accepted: bool, tmp_path: Path) -> None:
    file, unlabelled, gold = (tmp_path / name for name in ("submission.txt", "unlabelled.txt", "gold.txt"))
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    gold.write_text(table(*ROWS))
    unlabelled.write_text(table(*(row.rpartition("\t")[0] for row in ROWS), header=HEADER[:-6]))
    assert decisions("emocontext", file, unlabelled, gold) == [accepted] * 3, name


@pytest.mark.parametrize("task", ["emocontext", "emotionx-friends", "iest"])
def test_a_folder_is_refused_in_one_line(task: str, tmp_path: Path) -> None:
    unlabelled = tmp_path / "unlabelled"
    unlabelled.write_text(get_task(task).sample)
    assert get_task(task).verify(tmp_path, unlabelled) == [f"{tmp_path}: is a folder, expected a file"]
