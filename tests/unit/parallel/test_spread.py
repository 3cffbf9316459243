"""A function over a stream of parts in several processes: order, memory, mistakes, and processes that die."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.parallel.spread import FOR_EACH, Spread
from kits import spread_work
from kits.score_kit import kill, named, until


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_answers_come_in_order(workers: int) -> None:
    assert list(Spread(workers=workers)(spread_work.slowest_first, range(40))) == list(range(40))


def test_others_do_the_work_and_one_part_is_done_here() -> None:
    pids = set(Spread(workers=2)(spread_work.process, range(10)))
    assert len(pids) == 2
    assert os.getpid() not in pids
    assert list(Spread(workers=2)(spread_work.process, [1])) == [os.getpid()]
    assert list(Spread(workers=2)(spread_work.process, [])) == []


def test_no_more_is_read_than_is_worked_on() -> None:
    read = 0

    def parts() -> Iterator[int]:
        nonlocal read
        for part in range(1000):
            read += 1
            yield part

    answers = Spread(workers=2)(spread_work.slowest_first, parts())
    for taken in range(200):
        assert next(answers) == taken
        assert read <= taken + 2 * FOR_EACH + 5  # and what the reading thread holds
    assert isinstance(answers, Iterator)
    answers.close()  # type: ignore[attr-defined]  # ends the workers


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_part_that_fails_is_named(workers: int) -> None:
    answers = Spread(workers=workers)(spread_work.refuse_four, range(20))
    assert [next(answers) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(EmoscopeError, match=r"^no 4, please$"):
        next(answers)


def test_a_mistake_of_ours_shows_where() -> None:
    with pytest.raises(RuntimeError, match="break_down"):
        list(Spread(workers=2)(spread_work.break_down, range(3)))


def test_a_mistake_in_the_input_is_passed_on() -> None:
    def parts() -> Iterator[int]:
        yield from range(5)
        raise InputError("a.csv", "is broken", row=6)

    with pytest.raises(InputError, match="row 6"):
        list(Spread(workers=2)(spread_work.slowest_first, parts()))


def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    parts = ["", str(tmp_path / "died"), "", ""]
    assert list(Spread(workers=2)(spread_work.die_once, parts)) == parts
    assert (tmp_path / "died").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_a_process_that_dies_before_it_is_up() -> None:
    """More than a pipe holds is on its way to it then."""

    def kill_the_first() -> None:
        kill(until(lambda: named(os.getpid(), "spawn_main"))[0])

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    assert list(Spread(workers=2)(spread_work.Heavy(bytes(1 << 21)), range(4))) == [
        (1 << 21) + part for part in range(4)
    ]
    killer.join()


def test_a_part_that_kills_is_given_up() -> None:
    answers = Spread(workers=2)(spread_work.die, range(4))
    assert next(answers) == 0
    with pytest.raises(EmoscopeError, match=r"^part 1: its worker died 3 times \(signal 9"):
        next(answers)
