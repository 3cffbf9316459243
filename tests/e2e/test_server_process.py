"""The server as a process: request limits, graceful shutdown, and wrong settings at the start."""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from emoscope.server.store.database import Database
from emoscope.server.store.migrate import upgrade
from kits.challenge_kit import answer, database_url, phase
from kits.challenge_site import OPENED, prepare
from kits.server_process import ServerProcess, free_port, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("server"), EMOSCOPE_RECEIVE_SECONDS="0.5") as running:
        yield running


def raw(server: ServerProcess, *parts: bytes, pause: float = 0.0) -> bytes:
    """What the server answers to these bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                break
            time.sleep(pause)
        found = b""
        try:
            while more := connection.recv(65536):
                found += more
                if b"}" in found:
                    break
        except ConnectionResetError:
            pass
        return found


HEAD = b"POST /v1/detect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def test_a_declared_length_over_the_limit_is_refused_before_the_body(server: ServerProcess) -> None:
    answer = raw(server, HEAD + b"Content-Length: 99999999999\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"1,048,576 bytes" in answer


def test_endless_body_is_refused_while_it_arrives(server: ServerProcess) -> None:
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    answer = raw(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *([chunk] * 40))
    assert answer.startswith(b"HTTP/1.1 413")


def test_body_that_does_not_arrive_times_out(server: ServerProcess) -> None:
    answer = raw(server, HEAD + b'Content-Length: 50\r\n\r\n{"turns"')
    assert answer.startswith(b"HTTP/1.1 408")


def test_headers_do_not_name_the_software(server: ServerProcess) -> None:
    assert "server" not in httpx.get(f"{server.url}/healthz").headers


def test_many_clients_at_once_get_what_one_gets(server: ServerProcess) -> None:
    texts = ["I am so happy", "I hate you", "what time is it", "I want to cry 😭"] * 25

    async def ask() -> list[dict[str, object]]:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            answers = await asyncio.gather(*(client.post("/v1/detect", json={"turns": [text]}) for text in texts))
            return [answer.json() for answer in answers]

    found = asyncio.run(ask())
    alone = {text: httpx.post(f"{server.url}/v1/detect", json={"turns": [text]}).json() for text in set(texts)}
    assert found == [alone[text] for text in texts]


def test_full_queue_says_when_to_retry(tmp_path: Path) -> None:
    small = {"EMOSCOPE_MAX_TURNS": "40", "EMOSCOPE_MAX_DIALOGUES": "40", "EMOSCOPE_QUEUE_DIALOGUES": "40"}
    with running_server(tmp_path, **small) as server:

        async def ask() -> list[httpx.Response]:
            body = {"dialogues": [{"turns": ["I am so happy and so on " * 60]}] * 40}
            limits = httpx.Limits(max_connections=40)
            async with httpx.AsyncClient(base_url=server.url, timeout=60, limits=limits) as client:
                return await asyncio.gather(*(client.post("/v1/detect/batch", json=body) for _ in range(40)))

        answers = asyncio.run(ask())
        refused = [answer for answer in answers if answer.status_code == 429]
        assert {answer.status_code for answer in answers} == {200, 429}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
        metrics = httpx.get(f"{server.url}/metrics").text
        assert f'emoscope_refused_total{{lane="detect",reason="full"}} {len(refused)}.0' in metrics


def test_accepted_requests_are_answered_before_shutdown(tmp_path: Path) -> None:
    body = json.dumps({"turns": ["I am so happy because of this and that and much more of it"] * 4}).encode()
    request = HEAD.replace(b"/v1/detect", b"/v1/explain") + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with running_server(tmp_path, EMOSCOPE_EXPLAIN_PER_CLIENT="100") as server:
        connections = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(14)]
        for connection in connections:
            connection.sendall(request)
        accepted = f'emoscope_accepted_total{{lane="explain"}} {len(connections)}.0'
        while accepted not in httpx.get(f"{server.url}/metrics").text:
            time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        answers = [_until_closed(connection) for connection in connections]
        assert server.process.wait(30) in (0, -signal.SIGTERM)
    assert [answer[:15] for answer in answers] == [b"HTTP/1.1 200 OK"] * len(answers)
    assert all(json.loads(answer.partition(b"\r\n\r\n")[2])["label"] == "happy" for answer in answers)


def _until_closed(connection: socket.socket) -> bytes:
    found = b""
    with connection:
        while more := connection.recv(65536):
            found += more
    return found


def serve(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from emoscope.cli.main import run; run()", "serve", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("options", "environment", "said"),
    [
        (["--model", "nowhere"], {}, "no model named 'nowhere'"),
        ([], {"EMOSCOPE_MAX_TURNS": "many"}, "EMOSCOPE_MAX_TURNS: "),
        ([], {"EMOSCOPE_QUEUE_DIALOGUES": "5"}, "EMOSCOPE_QUEUE_DIALOGUES must be at least"),
        ([], {"EMOSCOPE_DATABASE_URL": "nonsense"}, "the database address is not valid"),
        (["--data-dir", "/proc/nowhere"], {}, "/proc/nowhere"),
    ],
)
def test_a_wrong_start_is_one_clear_line(
    tmp_path: Path, options: list[str], environment: dict[str, str], said: str
) -> None:
    data = [] if "--data-dir" in options else ["--data-dir", str(tmp_path)]
    done = serve("--port", str(free_port()), *data, *options, **environment)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_several_processes_share_postgresql_and_their_counters(tmp_path: Path) -> None:
    with database_url("postgresql", tmp_path) as url:
        database = Database(url)
        upgrade(database)
        database.close()
        with running_server(tmp_path, "--workers", "2", EMOSCOPE_DATABASE_URL=url) as server:
            for _ in range(40):
                with httpx.Client() as client:  # a connection of its own each time, so that both processes get some
                    assert client.post(f"{server.url}/v1/detect", json={"turns": ["I am so happy"]}).status_code == 200
            counted = {
                line.split()[-1]
                for _ in range(6)
                for line in httpx.get(f"{server.url}/metrics").text.splitlines()
                if line.startswith("emoscope_http_requests_total") and 'route="/v1/detect"' in line
            }
            assert counted == {"40.0"}
            assert server.stop() == 0


def test_a_server_that_is_killed_again_and_again_loses_nothing(tmp_path: Path) -> None:
    """Over HTTP, as a client sees it: every upload is repeated with its key until it is answered."""
    prepare(tmp_path, phases=phase("practice", opens=OPENED, per_day=1000))
    wanted, rng = 40, random.Random(5)
    answered: dict[int, str] = {}
    token = ""
    for round_ in range(4):
        with running_server(tmp_path) as server:
            if not token:
                made = httpx.post(f"{server.url}/v1/challenges/mine/teams", json={"team": "Joy", "member": "Ana"})
                token = made.json()["token"]
            last = round_ == 3
            killer = threading.Timer(rng.uniform(0.2, 1.5), server.kill)
            if not last:
                killer.start()
            for number in range(wanted):
                if number in answered:
                    continue
                headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"upload-{number}"}
                files = {"file": ("a.txt", answer(number % 9).getvalue())}
                try:
                    sent = httpx.post(
                        f"{server.url}/v1/challenges/mine/submissions", headers=headers, files=files, timeout=60
                    )
                except httpx.TransportError:
                    break  # the server is gone; the next one is asked again
                assert sent.status_code == 201, sent.text
                answered[number] = sent.json()["id"]
            killer.join() if not last else None
            if last:
                found = _all_final(server.url, token)
    assert len(answered) == wanted
    assert {one["id"] for one in found} == set(answered.values())  # none lost, none twice
    assert {one["state"] for one in found} == {"scored"}


def _all_final(url: str, token: str) -> list[dict[str, object]]:
    until = time.monotonic() + 240
    while time.monotonic() < until:
        listed = httpx.get(
            f"{url}/v1/challenges/mine/submissions", headers={"Authorization": f"Bearer {token}"}, timeout=60
        )
        found: list[dict[str, object]] = listed.json()
        if all(one["state"] in ("scored", "failed", "rejected") for one in found):
            return found
        time.sleep(0.5)
    raise AssertionError("not every submission came to an end")


def test_the_submit_command_speaks_to_this_server(tmp_path: Path) -> None:
    prepare(tmp_path)
    file = tmp_path / "mine.txt"
    file.write_bytes(answer(7).getvalue())
    with running_server(tmp_path) as server:
        made = httpx.post(f"{server.url}/v1/challenges/mine/teams", json={"team": "Joy", "member": "Ana"})
        command = [sys.executable, "-c", "from emoscope.cli.main import run; run()", "submit", str(file), "--json"]
        command += [
            "--challenge",
            f"{server.url}/challenges/mine",
            "--token",
            made.json()["token"],
            "--phase",
            "practice",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["state"] == "scored"
        file.write_text("nonsense")
        refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert refused.returncode == 1
        assert json.loads(refused.stdout)["problems"]
