"""The real server in a process of its own, on a free port of this machine."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 120


class ServerProcess:
    """`emoscope serve`, running."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def stop(self) -> int:
        """Ask it to end as an operator does; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)

    def kill(self) -> None:
        """End it without warning."""
        self.process.kill()
        self.process.wait(120)


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_server(data_dir: Path, *options: str, **environment: str) -> Iterator[ServerProcess]:
    """The server with its own data folder, ready to answer; stopped at the end."""
    port = free_port()
    log = data_dir / "server.log"
    environment = {
        "EMOSCOPE_REGISTRATIONS_PER_ADDRESS": "10000",
        "EMOSCOPE_REGISTRATIONS_PER_NETWORK": "10000",
    } | environment
    data_dir.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", "from emoscope.cli.main import run; run()", "serve", "--port", str(port)]
    command += ["--data-dir", str(data_dir), "--model", "nano", *options]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment}
        )
    server = ServerProcess(process, port)
    try:
        _wait_until_ready(server, log)
        yield server
    finally:
        if process.poll() is None:
            server.stop()


def _wait_until_ready(server: ServerProcess, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if server.process.poll() is not None:
            raise RuntimeError(f"the server ended at once:\n{log.read_text()}")
        try:
            with urllib.request.urlopen(f"{server.url}/readyz", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the server was not ready in {START_SECONDS} s:\n{log.read_text()}")
