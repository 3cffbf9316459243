"""A function over a stream of parts in several processes: order, memory, errors, progress, and workers that die."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.parallel import SERIAL, Executor
from emoscope.parallel.executor import PARTS_PER_WORKER
from emoscope.parallel.threads import cores
from kits import part_functions
from kits.score_kit import kill, named, until


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_are_in_order(workers: int) -> None:
    assert list(Executor(workers=workers).map(part_functions.slowest_first, range(40))) == list(range(40))


def test_workers_do_the_parts_and_a_single_one_is_done_here() -> None:
    pids = set(Executor(workers=2).map(part_functions.process, range(10)))
    assert len(pids) == 2
    assert os.getpid() not in pids
    assert list(Executor(workers=2).map(part_functions.process, [1])) == [os.getpid()]
    assert list(Executor(workers=2).map(part_functions.process, [])) == []
    assert set(SERIAL.map(part_functions.process, range(2))) == {os.getpid()}


def test_workers_compute_on_one_core_by_default() -> None:
    for workers in (1, 2):
        assert set(Executor(workers=workers).map(part_functions.usable_cores, range(4))) == {1}
    assert set(Executor(workers=2, single_core=False).map(part_functions.usable_cores, range(4))) == {cores()}
    assert list(SERIAL.map(part_functions.usable_cores, range(1))) == [cores()]


@pytest.mark.parametrize("executor", [SERIAL, Executor(workers=1), Executor(workers=2)])
def test_progress_is_reported_from_wherever_a_part_is_computed(executor: Executor) -> None:
    reports: list[int] = []
    assert list(executor.map(part_functions.advance_by_part, range(5), progress=reports.append)) == [0, 1, 2, 3, 4]
    assert sorted(report for report in reports if report) == [1, 2, 3, 4]


def test_progress_of_a_worker_that_died_does_not_count(tmp_path: Path) -> None:
    reports: list[int] = []
    list(Executor(workers=2).map(part_functions.die_once, [str(tmp_path / "died"), ""], progress=reports.append))
    assert sum(reports) == 2
    assert -1 in reports


def test_workers_may_have_workers_of_their_own() -> None:
    pids = list(Executor(workers=2).map(part_functions.process_in_a_worker, range(2)))
    assert len(set(pids)) == 2
    assert os.getpid() not in pids


def test_workers_end_with_a_program_that_did_not_take_all_results(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from emoscope.parallel import Executor\n"
        "if __name__ == '__main__':\n"
        "    results = Executor(workers=2).map(abs, range(100))\n"
        "    print(next(results), next(results))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "0 1\n"), done.stderr


def test_no_more_is_read_than_is_worked_on() -> None:
    read = 0

    def parts() -> Iterator[int]:
        nonlocal read
        for part in range(1000):
            read += 1
            yield part

    results = Executor(workers=2).map(part_functions.slowest_first, parts())
    for taken in range(200):
        assert next(results) == taken
        assert read <= taken + 2 * PARTS_PER_WORKER + 5  # and what the reading thread holds
    assert isinstance(results, Iterator)
    results.close()  # type: ignore[attr-defined]  # ends the workers


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_part_that_fails_is_named(workers: int) -> None:
    results = Executor(workers=workers).map(part_functions.refuse_four, range(20))
    assert [next(results) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(EmoscopeError, match=r"^no 4, please$"):
        next(results)


def test_a_bug_shows_its_traceback() -> None:
    with pytest.raises(RuntimeError, match="break_down"):
        list(Executor(workers=2).map(part_functions.break_down, range(3)))


def test_an_error_in_the_input_is_passed_on() -> None:
    def parts() -> Iterator[int]:
        yield from range(5)
        raise InputError("a.csv", "is broken", row=6)

    with pytest.raises(InputError, match="row 6"):
        list(Executor(workers=2).map(part_functions.slowest_first, parts()))


def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    parts = ["", str(tmp_path / "died"), "", ""]
    assert list(Executor(workers=2).map(part_functions.die_once, parts)) == parts
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize("stuck", [0, 19])
def test_a_stuck_part_is_done_by_another_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stuck: int) -> None:
    """Both at the end, and where results wait for it and no more parts are taken."""
    monkeypatch.setattr("emoscope.parallel.stragglers.LEAST_SECONDS", 0.0)
    parts = [""] * 20
    parts[stuck] = str(tmp_path / "begun")
    reports: list[int] = []
    assert list(Executor(workers=2).map(part_functions.stick_once, parts, progress=reports.append)) == parts
    assert (tmp_path / "begun").read_text() == ".."
    assert sum(reports) == 1


def test_parts_of_several_cores_are_not_begun_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emoscope.parallel.stragglers.LEAST_SECONDS", 0.0)
    monkeypatch.setattr("emoscope.parallel.stragglers.FACTOR", 0.0)
    pids = list(Executor(workers=2, single_core=False).map(part_functions.process, range(5)))
    assert len(set(pids)) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_a_process_that_dies_before_it_is_up() -> None:
    """More than a pipe holds is on its way to it then."""

    def kill_the_first() -> None:
        kill(until(lambda: named(os.getpid(), "spawn_main"))[0])

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    assert list(Executor(workers=2).map(part_functions.Heavy(bytes(1 << 21)), range(4))) == [
        (1 << 21) + part for part in range(4)
    ]
    killer.join()


def test_ray_that_does_not_start_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine Ray gives up with an exception of no kind of its own."""
    ray = pytest.importorskip("ray")

    def fail(**_: object) -> None:
        raise Exception("The current node timed out during startup. This could happen\nfor many reasons.")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(EmoscopeError, match=r"^Ray does not start \(The current node timed out during startup.*\)$"):
        list(Executor("ray", workers=2).map(part_functions.refuse_four, range(4)))


def test_part_that_kills_workers_is_abandoned() -> None:
    results = Executor(workers=2).map(part_functions.die, range(4))
    assert next(results) == 0
    with pytest.raises(EmoscopeError, match=r"^part 1: its worker died 3 times \(signal 9"):
        next(results)
