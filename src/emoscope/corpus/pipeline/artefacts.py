"""The files that steps leave: digests of them, and JSON."""

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any

COUNTS, RECORD = "counts.json", "step.json"


def emoscope_version() -> str:
    """Which version of emoscope this is.

    Looked up by name, for the package's front door leads to layers above this one.
    """
    return str(import_module("emoscope").__version__)


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """The sha256 of every file that a step has left, but for its own record."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / RECORD)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def read_json(path: Path) -> Any:
    """What a file of JSON holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write JSON that people can read; within a step's folder, which is whole or not there at all."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
