"""Two runs on one output: the second is refused, and a lock that a killed run left is recognised."""

import json
import os
import socket
import time
from pathlib import Path

import fsspec
import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.scoring import score
from emoscope.scoring.lock import LOCK, STALE_SECONDS
from emoscope.scoring.output import OutputFolder
from emoscope.scoring.score_tables import ScoringProgress
from kits.score_kit import chats, content, kill, start, until, write_jsonl


def test_a_second_run_is_refused_and_touches_nothing(tmp_path: Path) -> None:
    path, out = write_jsonl(tmp_path / "a.jsonl", chats(40)), tmp_path / "out"
    refused = []

    def second(progress: ScoringProgress) -> None:
        if progress.done == 20:
            half = out / "scores" / ".part-00002.parquet.x.part"  # what a worker of the first is writing
            half.write_bytes(b"half")
            with pytest.raises(EmoscopeError, match=rf"out: another run is writing here \(process {os.getpid()} on "):
                score([str(path)], out, model="nano", workers=1, part_rows=10)
            refused.append(half.exists())

    score([str(path)], out, model="nano", workers=1, part_rows=10, report=second)
    assert refused == [True]
    score([str(path)], tmp_path / "alone", model="nano", workers=1, part_rows=10)
    assert content(out) == content(tmp_path / "alone")  # the lock is gone, too


def test_a_refused_run_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"none")
    with pytest.raises(EmoscopeError, match="not a readable"):
        score([str(tmp_path / "a.parquet")], tmp_path / "out", model="nano")
    assert not (tmp_path / "out").exists()


@pytest.mark.e2e
def test_killed_run_holds_no_lock(tmp_path: Path) -> None:
    path, out = write_jsonl(tmp_path / "a.jsonl", chats(20_000)), tmp_path / "out"
    process = start(path, "-o", out, "-m", "nano", "--workers", "2", "--part-rows", "500")
    until(lambda: list(out.glob("scores/part-*")))
    kill(process.pid)
    process.communicate()
    assert (out / LOCK).exists()
    assert score([str(path)], out, model="nano", workers=1).rows == 20_000
    assert not (out / LOCK).exists()


def lock_content(**changes: object) -> bytes:
    return json.dumps({"host": "elsewhere", "pid": 1, "time": time.time(), "token": "x", **changes}).encode()


def test_at_an_address_the_lock_is_a_file(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    output = OutputFolder("memory://locked/out")
    with output.lock():
        held = json.loads(memory.cat_file(f"/locked/out/{LOCK}"))
        assert (held["pid"], held["host"]) == (os.getpid(), socket.gethostname())
        with pytest.raises(EmoscopeError, match="another run is writing here"), output.lock():
            pass
        assert memory.exists(f"/locked/out/{LOCK}")
    assert not memory.exists(f"/locked/out/{LOCK}")


def test_a_stale_lock_at_an_address_is_taken_over(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    output = OutputFolder("memory://stale/out")
    ended = 2**22 + 1  # more than a process number can be
    for stale in ({"time": time.time() - STALE_SECONDS - 1}, {"host": socket.gethostname(), "pid": ended}):
        memory.pipe_file(f"/stale/out/{LOCK}", lock_content(**stale))
        with output.lock():
            assert output.is_empty()
    memory.pipe_file(f"/stale/out/{LOCK}", lock_content())
    with pytest.raises(EmoscopeError, match=r"\(process 1 on elsewhere\)"), output.lock():
        pass
