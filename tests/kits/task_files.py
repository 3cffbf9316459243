"""Small files in the tasks' own formats, and the evaluation commands, for the tests of evaluation."""

import json
from collections.abc import Sequence
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from emoscope.cli.app import app


def emocontext_file(path: Path, labels: Sequence[str] | None, count: int = 0) -> Path:
    """Dialogues whose third turn is `c0`, `c1`, ..., with labels or without."""
    header = ["id", "turn1", "turn2", "turn3", *([] if labels is None else ["label"])]
    rows = ["\t".join(header)]
    for number in range(count if labels is None else len(labels)):
        cells = [str(number), f"a{number}", f"b{number}", f"c{number}"]
        rows.append("\t".join(cells if labels is None else [*cells, labels[number]]))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def iest_file(path: Path, rows: Sequence[tuple[str, str]]) -> Path:
    """Tweets as (label, text after the masked word)."""
    lines = [f"{label}\tI am [#TRIGGERWORD#] {rest}" for label, rest in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def emotionx_file(path: Path, labels: Sequence[str], *, submitted: bool = False) -> Path:
    """One dialogue, as a data file or as a submission."""
    dialogue = [
        {"speaker": "Ross", "utterance": f"line {number}", "emotion": label} for number, label in enumerate(labels)
    ]
    content = [{"name": "A", "email": "a@example.org"}, [dialogue]] if submitted else [dialogue]
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def labels_file(path: Path, labels: Sequence[str]) -> Path:
    """One label a line."""
    path.write_text("".join(f"{label}\n" for label in labels), encoding="utf-8")
    return path


def run(*arguments: str | Path) -> Result:
    """Run one of the evaluation commands."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])
