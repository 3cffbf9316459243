"""Connections against a running server: slow headers, many of them, names, HEAD, several processes, large batches."""

import json
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from kits.server_process import ServerProcess, running_server

HALF = b"POST /v1/detect HTTP/1.1\r\nHost: x\r\nX-Slow: "
ASK = {"turns": ["I am so happy"]}


def connected(server: ServerProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def answer_to_trickle(connection: socket.socket, part: bytes) -> bytes:
    """What a server says to somebody who sends a byte every half second, for a minute at most."""
    connection.settimeout(0.5)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            return connection.recv(1000)
        except TimeoutError:
            connection.sendall(part)
    return b""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that may have few files open, as a shell with `ulimit -n 256` gives it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    folder = tmp_path_factory.mktemp("connections")
    options = {"EMOSCOPE_HEADER_SECONDS": "3", "EMOSCOPE_MAX_CONNECTIONS": "100"}
    with running_server(folder, "--public-url", "http://emoscope.example.org", "--access-log", **options) as running:
        resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (256, hard))
        yield running
    del soft


def log_of(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> str:
    return next(tmp_path_factory.getbasetemp().glob("connections*/server.log")).read_text()


def test_half_sent_headers_block_no_one_and_are_closed(
    server: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> None:
    held = []
    for _ in range(300):
        one = connected(server)
        one.sendall(HALF)
        held.append(one)
    assert httpx.post(f"{server.url}/v1/detect", json=ASK, timeout=60).status_code == 200
    last = held[-1]
    answer = last.recv(1000)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["status"] == 408
    for one in held:
        one.close()
    closed, until = 0, time.monotonic() + 60
    while closed < 300 and time.monotonic() < until:
        lines = re.findall(r"closed (\d+) .* within 3 s, and (\d+) to make room", log_of(server, tmp_path_factory))
        closed = sum(int(slow) + int(crowded) for slow, crowded in lines)
        time.sleep(0.2)
    assert (closed, len(lines) <= 4) == (300, True)


def test_a_second_header_on_a_connection_has_a_time_too(server: ServerProcess) -> None:
    with connected(server) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while b"}" not in answer:  # headers and body may come one after the other
            answer += one.recv(4000)
        assert b"200" in answer
        one.sendall(HALF)
        assert b"408" in answer_to_trickle(one, b"a")  # a byte now and then does not prolong it


def test_slow_request_bodies_are_cut_off(tmp_path: Path) -> None:
    with running_server(tmp_path, EMOSCOPE_RECEIVE_SECONDS="2") as slow, connected(slow) as one:
        one.sendall(
            b"POST /v1/detect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
        )
        assert b" 408 " in answer_to_trickle(one, b" ")


def whole_response(connection: socket.socket) -> bytes:
    """Head and body, which may arrive apart."""
    answer = b""
    while b"\r\n\r\n" not in answer or answer.count(b"}") < answer.count(b"{") or not answer.endswith(b"}"):
        if not (part := connection.recv(4000)):
            break
        answer += part
    return answer


def test_pause_of_the_process_ends_no_request(tmp_path: Path) -> None:
    seconds = dict.fromkeys(("EMOSCOPE_HEADER_SECONDS", "EMOSCOPE_RECEIVE_SECONDS", "EMOSCOPE_DEADLINE_SECONDS"), "10")
    body = json.dumps(ASK).encode()
    head = b"POST /v1/detect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    request = head % len(body) + body
    with running_server(tmp_path, **seconds) as server, ExitStack() as stack:
        in_header, in_body, idle = (stack.enter_context(connected(server)) for _ in range(3))
        in_header.sendall(request[:20])
        in_body.sendall(request[:-5])
        idle.sendall(request)
        assert whole_response(idle).startswith(b"HTTP/1.1 200 ")
        time.sleep(0.5)
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(11)
        server.process.send_signal(signal.SIGCONT)
        time.sleep(0.2)  # by now the server has seen that the time has passed
        in_header.sendall(request[20:])
        in_body.sendall(request[-5:])
        idle.sendall(request)
        for connection in (in_header, in_body, idle):
            assert whole_response(connection).startswith(b"HTTP/1.1 200 ")


def test_hosts_head_and_request_ids(server: ServerProcess) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        assert client.get("/", headers={"Host": "emoscope.example.org:8000"}).status_code == 200
        refused = client.get("/", headers={"Host": "evil.example"})
        assert (refused.status_code, refused.headers["content-type"]) == (400, "application/problem+json")
        assert client.post("/v1/detect", json=ASK, headers={"Host": "evil.example"}).status_code == 400
        assert client.get("/readyz", headers={"Host": "10.0.0.7"}).status_code == 200  # machines that watch
        for path in ("/", "/v1/models", "/challenges", "/healthz", "/static/icon.svg"):
            head, whole = client.head(path), client.get(path)
            assert (head.status_code, head.content) == (200, b""), path
            assert head.headers.get("content-length") == whole.headers.get("content-length"), path
        assert client.head("/v1/detect").status_code == 405
        ids = [client.post("/v1/detect", json=ASK).headers["x-request-id"] for _ in range(2)]
        assert ids[0] != ids[1]
        assert client.get("/nowhere", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
        assert client.get("/healthz", headers={"X-Request-Id": "no good"}).headers["x-request-id"] != "no good"


def test_log_has_time_and_request(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = "/confirm/con_" + "s3cret-" * 6
    httpx.get(server.url + link, headers={"X-Request-Id": "mailed"}, timeout=60)
    httpx.get(f"{server.url}/v1/models?secret=1", headers={"X-Request-Id": "find-me"}, timeout=60)
    until = time.monotonic() + 60
    while "find-me" not in (logged := log_of(server, tmp_path_factory)) and time.monotonic() < until:
        time.sleep(0.05)
    line = next(line for line in logged.splitlines() if "find-me" in line)
    assert line[:2] == "20"
    assert "T" in line[:11]
    assert "INFO emoscope.access [find-me] 127.0.0.1 GET /v1/models 200" in line
    assert "secret" not in line
    assert "[mailed] 127.0.0.1 GET /confirm/con_... 404" in logged


def test_several_processes_share_the_embedded_database_limits_and_counters(tmp_path: Path) -> None:
    options = {"EMOSCOPE_DIALOGUES_PER_MINUTE": "40", "EMOSCOPE_LOG_FORMAT": "json"}
    with running_server(tmp_path, "--workers", "2", **options) as server:
        statuses, begun = [], time.monotonic()
        for _ in range(60):  # a new connection each, so that both processes are asked
            statuses.append(httpx.post(f"{server.url}/v1/detect", json=ASK, timeout=60).status_code)
        given_back = (time.monotonic() - begun) * 40 / 60
        assert 40 <= statuses.count(200) <= 41 + given_back
        assert statuses.count(429) == 60 - statuses.count(200)
        found = httpx.get(f"{server.url}/metrics", timeout=60).text
        assert "process_resident_memory_bytes" in found
        counted = sum(
            float(line.rsplit(" ", 1)[1])
            for line in found.splitlines()
            if line.startswith("emoscope_http_requests_total") and '"/v1/detect"' in line
        )
        assert counted == 60
    lines = (tmp_path / "server.log").read_text().splitlines()
    assert all(json.loads(line)["time"] for line in lines)


# Clients that send a batch again as soon as the last one is answered or refused; a process of their own.
BATCH_CLIENTS = """
import asyncio, json, sys
rows = [{"turns": ["hello there", "hi", f"I am so happy {row}"]} for row in range(256)]
body = json.dumps({"dialogues": rows}).encode()
lines = "POST /v1/detect/batch HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: %d"
head = "\\r\\n".join((*lines, "", ""))
async def client():
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
            writer.write((head % len(body)).encode() + body)
            found = await reader.readuntil(b"\\r\\n\\r\\n")
            writer.close()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
async def clients():
    await asyncio.gather(*(client() for _ in range(24)))
asyncio.run(clients())
"""


def test_batch_clients_do_not_hold_up_a_single_question(tmp_path: Path) -> None:
    with running_server(tmp_path, "--model", "default") as server:
        batches = subprocess.Popen([sys.executable, "-c", BATCH_CLIENTS, str(server.port)])
        try:
            time.sleep(3)
            with httpx.Client(base_url=server.url, timeout=60) as client:
                for _ in range(9):
                    # Neither refused as the batches are, nor answered with 503 at the server's deadline.
                    assert client.post("/v1/detect", json=ASK).status_code == 200
        finally:
            batches.kill()
            batches.wait()
