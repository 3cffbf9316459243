"""Deadlines are counted while the process runs: a pause of the whole process does not end a request."""

import asyncio
import threading
import time

import pytest
from starlette.types import Message

from emoscope.server.detect.batcher import Batcher
from emoscope.server.http.deadlines import ReceiveBudget, RunningTimer
from emoscope.server.http.metrics import Metrics
from emoscope.server.http.problems import Problem

PAUSE = 0.8  # seconds in which nothing runs on the event loop, as while the process is stopped


def never(_: str, items: list[int]) -> list[int]:
    time.sleep(PAUSE + 0.6)
    return items


def slow(_: str, items: list[int]) -> list[int]:
    time.sleep(PAUSE + 0.1)
    return items


async def ask(run: object, *, pause: float) -> list[int]:
    batcher: Batcher[str, int, int] = Batcher(
        run,  # type: ignore[arg-type]
        lane="test",
        size=4,
        capacity=100,
        deadline=0.5,
        metrics=Metrics(),
    )
    asyncio.get_running_loop().call_later(0.01, time.sleep, pause)
    try:
        return (await batcher.submit("k", [1])).results
    finally:
        batcher.close()


def test_answer_just_after_a_pause_is_returned() -> None:
    assert asyncio.run(ask(slow, pause=PAUSE)) == [1]


def test_deadline_applies_with_and_without_a_pause() -> None:
    for pause in (0.0, PAUSE):
        with pytest.raises(Problem, match=r"no answer within 0\.5 seconds"):
            asyncio.run(ask(never, pause=pause))


def test_one_slow_batch_does_not_make_the_next_large_request_look_hopeless() -> None:
    paused, gate = threading.Event(), threading.Event()

    def run(_: str, items: list[int]) -> list[int]:
        if items == [99]:
            time.sleep(1.0)
        if items == [100]:
            paused.set()
            assert gate.wait(60)
        return items

    async def results() -> list[int]:
        batcher: Batcher[str, int, int] = Batcher(
            run, lane="test", size=16, capacity=100, deadline=2.0, metrics=Metrics()
        )
        for number in (*range(5), 99):
            await batcher.submit("k", [number])
        waiting = [asyncio.create_task(batcher.submit("k", [100]))]
        await asyncio.to_thread(paused.wait, 60)
        waiting += [asyncio.create_task(batcher.submit("k", [number])) for number in range(20)]
        await asyncio.sleep(0)
        waiting.append(asyncio.create_task(batcher.submit("k", list(range(8)))))
        await asyncio.sleep(0)
        gate.set()
        answers = await asyncio.gather(*waiting)
        batcher.close()
        return answers[-1].results

    assert asyncio.run(results()) == list(range(8))


def test_a_timer_expires_once_and_can_be_cancelled() -> None:
    async def expired() -> list[str]:
        seen: list[str] = []
        RunningTimer(0.1, lambda: seen.append("expired"))
        cancelled = RunningTimer(0.1, lambda: seen.append("cancelled"))
        await asyncio.sleep(0.05)
        assert seen == []
        cancelled.cancel()
        await asyncio.sleep(0.2)
        return seen

    assert asyncio.run(expired()) == ["expired"]


def test_a_body_that_arrives_right_after_a_pause_is_read() -> None:
    async def body() -> Message:
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        async def receive() -> Message:
            await arrived.wait()
            return {"type": "http.request", "body": b"x"}

        loop.call_later(0.01, time.sleep, PAUSE)
        loop.call_later(0.01, loop.call_later, 0.1, arrived.set)
        return await ReceiveBudget(0.5).receive(receive)

    assert asyncio.run(body())["body"] == b"x"


def test_a_body_that_trickles_runs_out_of_time() -> None:
    async def parts() -> int:
        sent: asyncio.Queue[Message] = asyncio.Queue()

        async def send() -> None:
            while True:
                await asyncio.sleep(0.05)
                sent.put_nowait({"type": "http.request", "body": b"x", "more_body": True})

        sender, budget, received = asyncio.create_task(send()), ReceiveBudget(0.3), 0
        with pytest.raises(TimeoutError):
            while received < 100:
                await budget.receive(sent.get)
                received += 1
        sender.cancel()
        return received

    assert 2 <= asyncio.run(parts()) <= 30
