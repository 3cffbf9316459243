"""The section of `golden.py` that runs a shared task and asks for emotions over HTTP."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from golden_bench import Bench, GoldenError

GOLD = ["happy", "sad", "angry", "others", "others", "happy", "sad", "others"] * 3


def challenge_rows(labels: Sequence[str] | None) -> str:
    """A file of the challenge, with labels or without."""
    lines = ["\t".join(["id", "turn1", "turn2", "turn3", *(["label"] if labels else [])])]
    for number in range(len(GOLD)):
        cells = [str(number), f"hello {number}", "tell me", f"so it is {number}"]
        lines.append("\t".join([*cells, *([labels[number]] if labels else [])]))
    return "\n".join(lines) + "\n"


def answer(right: int) -> str:
    """A submission whose first labels are right."""
    wrong = {label: "sad" if label != "sad" else "angry" for label in GOLD}
    return challenge_rows([label if number < right else wrong[label] for number, label in enumerate(GOLD)])


def write_challenge(folder: Path) -> Path:
    """A challenge with an open and a hidden board."""
    folder.mkdir()
    (folder / "given.txt").write_text(challenge_rows(None), encoding="utf-8")
    (folder / "gold.txt").write_text(challenge_rows(GOLD), encoding="utf-8")
    (folder / "other.txt").write_text(challenge_rows(["sad", *GOLD[1:]]), encoding="utf-8")
    text = 'slug = "mine"\ntitle = "Mine"\ntask = "emocontext"\n'
    phases = {"practice": "published = true\npublic_share = 1", "final": 'board = "hidden"\ncounts = "last"'}
    for name, more in phases.items():
        text += f'[[phases]]\nname = "{name}"\ntitle = "{name}"\nunlabelled = "given.txt"\ngold = "gold.txt"\n'
        text += f"opens = 2020-01-01T00:00:00\nper_day = 3\n{more}\n"
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return folder


def record_challenge(bench: Bench) -> Any:
    """A shared task from its file to its boards, and detection, over HTTP."""
    source, store = write_challenge(bench.work / "challenge"), ("--data-dir", bench.work / "server")
    found: dict[str, Any] = {"challenge": bench.json("challenge", "create", source / "mine.toml", *store)}
    with serving(bench, *store) as url:
        at = f"{url}/v1/challenges/mine"
        tokens = {name: fetch(f"{at}/teams", {"team": name, "member": "Ana"})["token"] for name in "ABCD"}

        def submit(team: str, right: int, phase: str, expected: int = 0) -> None:
            file = bench.work / f"{team}-{phase}.txt"
            file.write_text(answer(right) if not expected else "id\tlabel\n", encoding="utf-8")
            to = ("--challenge", f"{url}/challenges/mine", "--token", tokens[team], "--phase", phase)
            found[f"submit {len(found)} {team}"] = bench.json("submit", file, *to, expected=expected)

        def settled() -> Any:
            return until(lambda: ready(fetch(f"{at}/phases/practice/board")))

        for team, right in (("A", 20), ("B", 20), ("C", 24), ("D", 3), ("D", 8)):
            submit(team, right, "practice")
        submit("A", 0, "practice", expected=1)
        submit("A", 24, "final")
        submit("A", 10, "final")
        found["practice"] = settled()
        found["hidden"] = fetch(f"{at}/phases/final/board")
        found["quota"] = fetch(f"{at}/phases/practice/quota", token=tokens["D"])
        bench.text("challenge", "gold", "mine", "practice", source / "other.txt", "--no-rescore", *store)
        found["stale"] = bench.json("challenge", "board", "mine", "practice", *store)
        bench.text("challenge", "rescore", "mine", *store)
        found["rescored"] = settled()
        bench.text("challenge", "close", "mine", "final", *store)
        found["final"] = until(lambda: ready(fetch(f"{at}/phases/final/board")))
        found["export"] = fetch(f"{at}/export")
        found["submissions"] = bench.json("challenge", "submissions", "mine", *store)
        found["audit"] = [line["action"] for line in bench.json("challenge", "audit", *store)]
        turns = {"turns": ["how was it", "tell me", "I passed!!! 😂"]}
        found |= {f"/v1/{name}": fetch(f"{url}/v1/{name}", turns) for name in ("detect", "timeline", "explain")}
        found["/v1/models"] = fetch(f"{url}/v1/models")
        paths = fetch(f"{url}/openapi.json")["paths"]
        found["routes"] = sorted(f"{method} {path}" for path, methods in paths.items() for method in methods)
    return bench.clean(found)


def ready(board: Any) -> Any:
    """The board, if all its work is done."""
    waiting = [entry for entry in board["entries"] if entry["stale"] or entry["state"] in ("queued", "scoring")]
    return board if board["clusters_ready"] and not waiting else None


def fetch(url: str, body: Any = None, token: str | None = None) -> Any:
    """The JSON of an address; of a refusal too."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as refused:
        return json.load(refused)


def until(found: Callable[[], Any], wait: float = 300) -> Any:
    """What a function gives, as soon as it gives something."""
    end = time.monotonic() + wait
    while time.monotonic() < end:
        try:
            if value := found():
                return value
        except (OSError, ValueError):
            pass
        time.sleep(0.2)
    raise GoldenError(f"waited {wait:.0f} s in vain")


@contextmanager
def serving(bench: Bench, *options: object) -> Iterator[str]:
    """The address of a server that runs until the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "emoscope", "serve", "--port", port, "--model", "nano", *options]
    with (bench.work / "server.log").open("w") as log:
        process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=subprocess.STDOUT)
    try:
        until(lambda: fetch(f"http://127.0.0.1:{port}/readyz"))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)
