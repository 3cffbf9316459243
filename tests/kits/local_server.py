"""A local HTTP server with scripted responses, and helpers for tests of fetching."""

import base64
import hashlib
import io
import os
import socket
import struct
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

TEXT = "".join(f"line {number} of a small file\n" for number in range(400)).encode()
OTHER = b"something else entirely\n" * 100
SUM = hashlib.sha256(TEXT).hexdigest()

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        answers = self.server.answers.get(self.path.rsplit("/", 1)[1], [])
        # The last answer stays; those before it are given once.
        answer = answers.pop(0) if len(answers) > 1 else answers[0] if answers else status(404)
        answer(self)

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/some/folder"

    def on(self, name: str, *answers: Answer) -> None:
        self.answers[name] = list(answers)

    def handle_error(self, *_: Any) -> None:
        """A client that hung up is what some tests are about."""


def body(content: bytes, *, claim: int | None = None, **headers: str) -> Answer:
    """Send `content`, claiming a length that may be another."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content) if claim is None else claim))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)
        handler.close_connection = claim is not None

    return answer


def status(code: int, **headers: str) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Length", "0")
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()

    return answer


def reset_midway(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(TEXT)))
    handler.end_headers()
    handler.wfile.write(TEXT[:1000])
    handler.wfile.flush()
    # With a linger time of zero, closing sends a reset rather than a farewell.
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(handler.connection.detach())


def chunked(content: bytes, *, finish: bool) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n" + (b"0\r\n\r\n" if finish else b""))
        handler.close_connection = True

    return answer


def locked(content: bytes, name: str, password: str) -> Answer:
    expected = "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()

    def answer(handler: Handler) -> None:
        let_in = handler.headers.get("Authorization") == expected
        (body(content) if let_in else status(401, WWW_Authenticate='Basic realm="data"'))(handler)

    return answer


def zipped(members: dict[str, bytes], **attributes: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for attribute, value in attributes.items():
                setattr(info, attribute, value)
            archive.writestr(info, content)
    return buffer.getvalue()


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def keep_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the user's data, cache, proxies or passwords."""
    for name in ("EMOSCOPE_DATA", "EMOSCOPE_IEST_PASSWORD", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EMOSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NETRC", str(tmp_path / "no-netrc"))


def left_in(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() or path.name[0] == "."
    )
