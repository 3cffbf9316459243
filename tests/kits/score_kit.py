"""Tables to score, and `emoscope score` in a process of its own that a test may kill."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from emoscope.scoring import score
from emoscope.scoring.manifest import ScoringManifest

_SAID = "i am so happy sad angry today you me love hate cry win lost friend exam hello why not great 😂 😭"
WORDS = _SAID.split(" ")


def chats(count: int) -> list[dict[str, Any]]:
    """Rows with three turns and a column that is only passed through."""
    return [
        {
            "id": number,
            "turns": [" ".join(WORDS[(number * k + j) % len(WORDS)] for j in range(2 + number % 5)) for k in (1, 3, 7)],
        }
        for number in range(count)
    ]


def write_jsonl(path: Path, rows: list[Any]) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def write_parquet(path: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path, **options)
    return path


def scores(folder: Path) -> list[dict[str, Any]]:
    """The rows of all parts, in order."""
    return [row for path in sorted(folder.glob("scores/*.parquet")) for row in pq.read_table(path).to_pylist()]


def rejects(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.glob("rejects/part-*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a finished run."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def scored(folder: Path, *inputs: Path | str, **settings: Any) -> ScoringManifest:
    """Score with `nano` in this process, and check that the manifest's counts are those of the files."""
    done = score([str(path) for path in inputs], folder, model="nano", **{"workers": 1, **settings})
    assert done.rows == done.scored + done.rejected == sum(file["rows"] for file in done.inputs)
    assert len(scores(folder)) == done.scored == sum(done.labels.values())
    assert len(rejects(folder)) == done.rejected
    return done


def start(*arguments: str | Path, **variables: str) -> "subprocess.Popen[str]":
    """`emoscope score` in a process of its own."""
    command = [sys.executable, "-m", "emoscope", "score", *map(str, arguments)]
    return subprocess.Popen(
        command, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def until(true: Callable[[], Any], seconds: float = 180) -> Any:
    """Wait until a function returns something true, and return that."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "timed out"
        time.sleep(0.005)
    return found


def descendants(pid: int) -> list[int]:
    """The children of a process, and theirs."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue
        found += [each for child in children for each in (child, *descendants(child))]
    return found


def named(pid: int, text: str) -> list[int]:
    """The descendants whose command line contains a text."""

    def line(each: int) -> str:
        try:
            return Path(f"/proc/{each}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            return ""

    return [each for each in descendants(pid) if text in line(each)]


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def stop(pid: int) -> None:
    """Suspend a process."""
    os.kill(pid, signal.SIGSTOP)
