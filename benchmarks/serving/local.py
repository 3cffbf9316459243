"""What the benchmarks of serving share: conversations to send, a server that runs here, clients that ask it."""

import json
import os
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common.processes import module_command

WIDTH = 128  # of the lines of our documents

_OPENERS = (
    "hey", "are you there?", "how was your day", "I have news", "so what happened", "you will not believe this",
    "can we talk", "I am back", "guess what", "did you see my message?", "what are you doing tonight",
)  # fmt: skip
_ANSWERS = (
    "tell me", "yes, what is it?", "oh really", "no way! go on", "hi", "I am listening", "why?", "ok", "of course",
    "what is going on", "not yet, why do you ask", "haha what", "sure",
)  # fmt: skip
_LAST = (
    "I passed!!! I am so happy 😂", "she lied to me again and I hate it 😡", "I will watch a movie tonight",
    "my dog died this morning", "what time does the shop close on sunday", "we won the first prize :)",
    "leave me alone", "nobody called me on my birthday 😭", "I miss her so much", "you never listen to me",
    "nothing special", "I got the job, can you believe it", "I am so tired of this", "ok see you there",
    "why are you always so rude to me", "that is the best thing I have heard all week", "I feel so alone",
    "just finished my homework", "stop it, it is not funny", "thank you so much, you made my day 😂",
)  # fmt: skip
LONGER = 0.3  # of the last turns say two things


def conversations(count: int = 500) -> list[list[str]]:
    """Chat as long as EmoContext's (20 tokens on average for the default model, 19 as the median); no two alike."""
    rng = random.Random(0)
    found: dict[tuple[str, str, str], None] = {}
    while len(found) < count:
        last = " ".join(rng.sample(_LAST, 2 if rng.random() < LONGER else 1))
        found[rng.choice(_OPENERS), rng.choice(_ANSWERS), last] = None
    return [list(turns) for turns in found]


def bodies() -> str:
    """The conversations as requests, a line each."""
    return "\n".join(json.dumps({"turns": turns}, ensure_ascii=False) for turns in conversations())


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: list[str], port: int, ready: str = "/readyz", **environment: str) -> Iterator[int]:
    """A server, ready to answer; gives its process id."""
    quiet = subprocess.DEVNULL
    # In a session of its own: Linux shares the cores out between sessions, so that on a busy machine a server with
    # forty threads is not given more of them than one with four.
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        until = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{ready}", timeout=2).close()
                break
            except (urllib.error.URLError, OSError):
                if process.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"the server did not start; see why with: {' '.join(command)}") from None
                time.sleep(0.2)
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)


def load(port: int, clients: int, seconds: float, requests: int, bodies: str) -> dict[str, Any]:
    """What clients measured in some seconds, or until a number of requests was answered (0: no limit)."""
    command = module_command("benchmarks.serving.client", port, clients, seconds, requests)
    done = subprocess.run(command, input=bodies, capture_output=True, text=True, check=True, start_new_session=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def our_server(model: str, port: int, folder: str) -> list[str]:
    """The command that serves a model of ours."""
    return module_command("emoscope", "serve", "--port", port, "--model", model, "--data-dir", Path(folder) / "data")


def say(text: str) -> None:
    """Report progress; standard output is for results."""
    print(text, file=sys.stderr, flush=True)
