"""The queue before the model: batches, bounds, deadlines, and a shutdown that loses nothing."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from emoscope.server.detect.batcher import Batcher
from emoscope.server.http.metrics import Metrics
from emoscope.server.http.problems import Problem

Run = Callable[[str, list[int]], list[int]]


def batcher(run: Run, *, size: int = 4, capacity: int = 100, deadline: float = 5.0) -> Batcher[str, int, int]:
    return Batcher(run, lane="test", size=size, capacity=capacity, deadline=deadline, metrics=Metrics())


class Gate:
    """A model that waits until it is let go, and remembers its batches."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.busy = threading.Event()
        self.batches: list[list[int]] = []

    def __call__(self, key: str, items: list[int]) -> list[int]:
        self.batches.append(items)
        self.busy.set()
        assert self.open.wait(60)
        return [item * 10 for item in items]


async def until_busy(gate: Gate) -> None:
    while not gate.busy.is_set():
        await asyncio.sleep(0.001)


def test_an_idle_batcher_waits_for_no_company(monkeypatch: pytest.MonkeyPatch) -> None:
    timeouts: list[float | None] = []
    wait = threading.Condition.wait

    def recorded(self: threading.Condition, timeout: float | None = None) -> bool:
        timeouts.append(timeout)
        return wait(self, timeout)

    async def ask() -> list[list[int]]:
        made = batcher(lambda _, items: [item + 1 for item in items])
        answers = [await made.submit("k", [number]) for number in range(3)]
        made.close()
        return [answer.results for answer in answers]

    monkeypatch.setattr(threading.Condition, "wait", recorded)
    assert asyncio.run(ask()) == [[1], [2], [3]]
    assert set(timeouts) <= {None}  # it waits for work, never for a time to pass


def test_waiting_requests_are_batched_up_to_the_size() -> None:
    async def ask() -> list[list[int]]:
        gate = Gate()
        made = batcher(gate)
        first = asyncio.create_task(made.submit("k", [0]))
        await until_busy(gate)
        rest = [asyncio.create_task(made.submit("k", [number])) for number in range(1, 7)]
        await asyncio.sleep(0)
        gate.open.set()
        answers = await asyncio.gather(first, *rest)
        made.close()
        assert [answer.results for answer in answers] == [[number * 10] for number in range(7)]
        return gate.batches

    assert asyncio.run(ask()) == [[0], [1, 2, 3, 4], [5, 6]]


def test_a_large_request_lets_small_ones_pass() -> None:
    async def ask() -> list[list[int]]:
        gate = Gate()
        made = batcher(gate, size=2)
        large = asyncio.create_task(made.submit("k", [1, 2, 3, 4, 5]))
        await until_busy(gate)
        small = asyncio.create_task(made.submit("k", [9]))
        await asyncio.sleep(0)
        gate.open.set()
        assert (await small).results == [90]
        assert (await large).results == [10, 20, 30, 40, 50]
        made.close()
        return gate.batches

    assert asyncio.run(ask()) == [[1, 2], [9, 3], [4, 5]]


def test_clients_take_turns_however_much_each_asks() -> None:
    async def ask() -> list[list[int]]:
        gate = Gate()
        made = batcher(gate, size=4)
        first = asyncio.create_task(made.submit("k", [0], "greedy"))
        await until_busy(gate)
        greedy = [asyncio.create_task(made.submit("k", [ten, ten + 1], "greedy")) for ten in range(10, 60, 10)]
        await asyncio.sleep(0)
        modest = asyncio.create_task(made.submit("k", [1, 2], "modest"))
        await asyncio.sleep(0)
        gate.open.set()
        assert (await modest).results == [10, 20]
        await asyncio.gather(first, *greedy)
        made.close()
        return gate.batches

    # Two items are large here: each client's oldest request has half of the batch.
    assert sorted(asyncio.run(ask())[1]) == [1, 2, 10, 11]


def test_many_large_requests_do_not_hold_up_a_small_one() -> None:
    async def ask() -> list[list[int]]:
        gate = Gate()
        made = batcher(gate, size=64, capacity=24 * 256)
        large = [asyncio.create_task(made.submit("k", [ten] * 256)) for ten in range(24)]
        await until_busy(gate)
        small = asyncio.create_task(made.submit("k", [99]))  # the queue is full, and the same client's
        await asyncio.sleep(0)
        gate.open.set()
        assert (await small).results == [990]
        await asyncio.gather(*large)
        made.close()
        return gate.batches

    assert next(number for number, batch in enumerate(asyncio.run(ask())) if 99 in batch) == 1


def test_requests_are_batched_after_a_burst_and_none_starves() -> None:
    batches: list[int] = []

    def run(key: str, items: list[int]) -> list[int]:
        batches.append(len(items))
        time.sleep(0.2)  # a fifth of it is waited for company, so those who ask have 40 ms on any machine
        return items

    async def client(made: Batcher[str, int, int], number: int) -> None:
        for _ in range(5):
            await made.submit("k", [number], number)

    async def ask() -> None:
        made = batcher(run, size=64)
        await asyncio.gather(*(client(made, number) for number in range(24)))
        await made.submit("k", [1])  # the crowd does not come back
        made.close()

    asyncio.run(ask())
    assert sum(size == 24 for size in batches) >= 2, batches


def test_different_keys_are_not_mixed() -> None:
    seen: list[tuple[str, list[int]]] = []
    all_wait = threading.Event()

    def run(key: str, items: list[int]) -> list[int]:
        assert all_wait.wait(60)
        seen.append((key, items))
        return items

    async def ask() -> None:
        made = batcher(run, size=10)
        asked = [asyncio.create_task(made.submit("ab"[number % 2], [number])) for number in range(6)]
        await asyncio.sleep(0)
        all_wait.set()
        await asyncio.gather(*asked)
        made.close()

    asyncio.run(ask())
    assert any(len(items) > 1 for _, items in seen)
    assert all({number % 2 for number in items} == {"ab".index(key)} for key, items in seen)


def test_full_queue_refuses_with_retry_after() -> None:
    async def ask() -> Problem:
        gate = Gate()
        made = batcher(gate, capacity=3)
        first = asyncio.create_task(made.submit("k", [0]))
        await until_busy(gate)
        waiting = asyncio.create_task(made.submit("k", [1, 2, 3]))
        await asyncio.sleep(0)
        with pytest.raises(Problem) as refused:
            await made.submit("k", [4])
        gate.open.set()
        await asyncio.gather(first, waiting)
        assert (await made.submit("k", [5])).results == [50]
        assert made.waiting == 0
        made.close()
        return refused.value

    refused = asyncio.run(ask())
    assert refused.status == 429
    assert int(refused.headers["Retry-After"]) >= 1


def test_the_deadline_is_kept_and_the_work_dropped() -> None:
    async def ask() -> tuple[Problem, list[list[int]]]:
        gate = Gate()
        made = batcher(gate, deadline=0.05)
        first = asyncio.create_task(made.submit("k", [0]))
        await until_busy(gate)
        with pytest.raises(Problem) as late:
            await made.submit("k", [1])
        gate.open.set()
        await asyncio.gather(first, return_exceptions=True)
        made.close()
        assert made.waiting == 0
        return late.value, gate.batches

    late, batches = asyncio.run(ask())
    assert (late.status, late.code) == (503, "deadline")
    assert batches == [[0]]  # what nobody waits for any more is not computed


def test_one_bad_request_does_not_fail_its_neighbours() -> None:
    started = threading.Event()

    def run(key: str, items: list[int]) -> list[int]:
        started.wait(60)
        if 3 in items:
            raise ValueError("three")
        return items

    async def ask() -> list[object]:
        made = batcher(run, size=10)
        asked = [asyncio.create_task(made.submit("k", [number])) for number in range(5)]
        await asyncio.sleep(0)
        started.set()
        found = await asyncio.gather(*asked, return_exceptions=True)
        made.close()
        return [one if isinstance(one, BaseException) else one.results for one in found]

    found = asyncio.run(ask())
    assert isinstance(found.pop(3), ValueError)
    assert found == [[0], [1], [2], [4]]


def test_closing_finishes_what_was_accepted() -> None:
    async def ask() -> None:
        gate = Gate()
        made = batcher(gate, size=1)
        accepted = [asyncio.create_task(made.submit("k", [number])) for number in range(5)]
        await until_busy(gate)
        closing = asyncio.create_task(asyncio.to_thread(made.close))
        while not made._closed:
            await asyncio.sleep(0.001)
        with pytest.raises(Problem) as refused:
            await made.submit("k", [9])
        assert refused.value.status == 503
        gate.open.set()
        answers = await asyncio.gather(*accepted)
        await closing
        assert [answer.results for answer in answers] == [[number * 10] for number in range(5)]

    asyncio.run(ask())
