"""The files of a step's folder: its counts, its record, digests, and JSON."""

import json
from pathlib import Path
from typing import Any

from emoscope.tasks.data import sha256_of

COUNTS, RECORD = "counts.json", "step.json"


def digests(folder: Path) -> dict[str, str]:
    """The sha256 of every file in a step's folder except its record."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / RECORD)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def read_json(path: Path) -> Any:
    """The content of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write JSON that people can read. Not atomic: a step's folder as a whole is."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
