"""`emoscope corpus annotate` in a process of its own."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kits.server_process import START_SECONDS, ServerProcess, free_port


class Served:
    """`emoscope corpus annotate`, running, with everyone's link and the managers' own."""

    def __init__(self, server: ServerProcess, links: dict[str, str], desk: str) -> None:
        self.server = server
        self.links = links
        self.desk = desk


@contextmanager
def served(folder: Path, tasks: Path, *options: str | Path, port: int | None = None) -> Iterator[Served]:
    """The study's page in a process of its own."""
    chosen = port or free_port()
    command = [sys.executable, "-m", "emoscope", "corpus", "annotate", str(tasks), "-o", str(folder), "--json"]
    command += ["--port", str(chosen), *map(str, options)]
    log = folder.with_suffix(".log")
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True)
    server = ServerProcess(process, chosen)
    try:
        told = ""
        assert process.stdout is not None
        while not told.endswith("}\n}\n") and (line := process.stdout.readline()):
            told += line
        _wait(server, log)
        value = json.loads(told)
        yield Served(server, value["links"], value["desk"])
    finally:
        if process.poll() is None:
            server.stop()
        if process.stdout is not None:
            process.stdout.close()


def _wait(server: ServerProcess, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if server.process.poll() is not None:
            raise RuntimeError(f"the server ended at once:\n{log.read_text()}")
        try:
            with urllib.request.urlopen(f"{server.url}/healthz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the server was not ready:\n{log.read_text()}")
