"""The ground under the sections of `golden.py`: made-up data, the command line, and what is left out of recordings."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from golden_data import write_data

ROOT = Path(__file__).resolve().parents[1]
# Values that differ between two runs, machines or versions without any change of what is answered.
VOLATILE = {
    *("seconds", "finished", "emoscope", "python", "machine", "packages", "settings", "bytes", "sha256", "key"),
    *("created", "received", "updated", "expires", "used", "opens", "closes", "time", "at", "day", "stamp"),
    *("token", "path", "folder"),
}
_PATTERNS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "<id>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<host>"),
)


def benchmarks() -> Path | None:
    """The folder of the benchmarks, where there is one."""
    named = os.environ.get("EMOSCOPE_DATA")
    return Path(named).resolve() if named else None


class GoldenError(Exception):
    """A command that failed, or a server that did not answer."""


class Bench:
    """A temporary folder with made-up data, and emoscope's command line."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.data = write_data(work / "data")
        self.failures = 0
        self.version = self.text("--version").split()[-1]

    def text(self, *arguments: object, data: Path | None = None, expected: int = 0) -> str:
        """What a command prints."""
        command = [sys.executable, "-m", "emoscope", *map(str, arguments)]
        variables = {**os.environ, "EMOSCOPE_DATA": str(data or self.data), "EMOSCOPE_CACHE": str(self.work / "cache")}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if done.returncode != expected:
            raise GoldenError(f"{' '.join(command[2:])}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def json(self, *arguments: object, data: Path | None = None, expected: int = 0) -> Any:
        """The JSON a command prints."""
        return json.loads(self.text(*arguments, "--json", data=data, expected=expected))

    def clean(self, value: Any) -> Any:
        """The value without what may change: times, paths, versions, tokens."""
        if isinstance(value, dict):
            return {key: self.clean(held) for key, held in value.items() if key not in VOLATILE}
        if isinstance(value, list | tuple):
            return [self.clean(held) for held in value]
        if isinstance(value, str):
            for folder, name in ((self.work, "<work>"), (ROOT, "<root>"), (benchmarks(), "<benchmarks>")):
                value = value if folder is None else value.replace(str(folder), name)
            for pattern, name in _PATTERNS:
                value = pattern.sub(name, value)
        return value


def digest(content: bytes | str) -> str:
    """The SHA-256 of some content."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def say(line: str) -> None:
    """A line of progress."""
    print(line, flush=True)
