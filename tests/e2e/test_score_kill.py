"""`kill -9` of a run and of its workers: finished parts are kept, the rest is scored once, nothing is lost."""

import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from emoscope.scoring import score
from kits.score_kit import chats, content, descendants, kill, named, start, stop, until, write_jsonl

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
ROWS = 12_000
WORKER = "spawn_main"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("table") / "a.jsonl", [*chats(ROWS), "{broken"])


@pytest.fixture(scope="module")
def whole(table: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole") / "out"
    done = score([str(table)], folder, model="nano", workers=1, part_rows=500)
    assert (done.rows, done.scored) == (ROWS + 1, ROWS)
    return content(folder)


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("scores/part-*.parquet"))


def test_killed_run_resumes(table: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = (table, "-o", out, "-m", "nano", "--workers", "2", "--part-rows", "500")
    process = start(*arguments)
    until(lambda: len(parts(out)) >= 3)
    workers = named(process.pid, WORKER)
    kill(process.pid)
    process.communicate()
    assert workers
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))  # none outlives the run
    left = parts(out)
    assert 3 <= len(left) < 25
    assert not (out / "manifest.json").exists()
    kept = {path: path.stat().st_mtime_ns for path in left}
    again = start(*arguments)
    _, error = again.communicate(timeout=120)
    assert again.returncode == 0, error
    assert content(out) == whole
    assert {path: path.stat().st_mtime_ns for path in left} == kept


def test_a_killed_worker_is_replaced(table: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(table, "-o", out, "-m", "nano", "--workers", "2", "--part-rows", "500")
    until(lambda: len(parts(out)) >= 2)
    kill(named(process.pid, WORKER)[0])
    _, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert content(out) == whole


def test_the_part_of_a_stuck_worker_is_scored_by_another(table: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(table, "-o", out, "-m", "nano", "--workers", "2", "--part-rows", "500")
    until(lambda: len(parts(out)) >= 4)
    stop(named(process.pid, WORKER)[0])
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert content(out) == whole


def test_part_that_kills_its_workers_is_abandoned(tmp_path: Path) -> None:
    out = tmp_path / "out"
    path = write_jsonl(tmp_path / "a.jsonl", chats(80_000))
    process = start(path, "-o", out, "-m", "nano", "--workers", "2", "--part-rows", "40000")
    while process.poll() is None:  # each long before it can have finished
        for worker in named(process.pid, WORKER):
            with suppress(ProcessLookupError):
                kill(worker)
        time.sleep(0.01)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert error.strip() == "emoscope: part 0: its worker died 3 times (signal 9; is there too little memory?)"
    assert not parts(out)
    assert not descendants(process.pid)
