"""Measure the server under load beside a plain FastAPI + transformers pipeline, and write docs/results/serving.md.

    python -m benchmarks.serving [--model default] [--seconds 20] [--hour 50] [--minutes 30]

Both servers run here, on loopback, in the same run, and are asked in turn: 1, 16 and 128 clients, each asking again as
soon as it is answered. Then our server gets an hour's worth of requests (3,600 times `--hour`) as fast as it takes
them, for `--minutes` at most, and its memory before and after is compared. In all this takes about 15 times `--seconds`
and the time of that hour's worth: half an hour at the most, unless asked for more. Progress goes to standard error.
"""

import argparse
import json
import os
import platform
import random
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common.memory import MIB, resident_memory
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES
from benchmarks.common.processes import module_command
from benchmarks.serving.plain_server import FOLDER, make_model

PAGE = PAGES / "serving.md"
PLOT = PAGES / "serving.svg"
CLIENTS = (1, 16, 128)
WIDTH = 128  # of the lines of our documents
PARTS = 20  # of the hour's worth, after each of which memory is read
OURS, PLAIN = "emoscope serve", "FastAPI + transformers pipeline"

_OPENERS = ("hey, are you there?", "how was your day", "I have news", "so, what happened", "you will not believe this")
_ANSWERS = ("tell me", "yes, what is it?", "oh really", "no way! go on", "I am listening, what is going on?")
_LAST = (
    "I passed!!! I am so happy 😂",
    "she lied to me again and I hate it 😡",
    "I will watch a movie tonight",
    "my dog died this morning and I can not stop crying",
    "what time does the shop close on sunday",
    "we won the first prize, can you believe it :)",
    "leave me alone, you never listen to what I say",
    "nobody called me on my birthday 😭",
)


def conversations(count: int = 500) -> list[list[str]]:
    """Chat of everyday length, made up here; no two alike."""
    rng = random.Random(0)
    return [
        [f"{rng.choice(_OPENERS)} {number}", rng.choice(_ANSWERS), " ".join(rng.sample(_LAST, rng.choice((1, 1, 2))))]
        for number in range(count)
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: list[str], port: int, **environment: str) -> Iterator[int]:
    """A server until it is ready; gives its process id."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=quiet, stderr=quiet)
    try:
        until = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2).close()
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
    command = module_command("benchmarks.serving.client", port, clients, seconds, requests)
    done = subprocess.run(command, input=bodies, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def endure(pid: int, port: int, requests: int, seconds: float, bodies: str) -> dict[str, Any]:
    """Send so many requests, or as many as the time allows; memory is read on the way."""
    seen: list[float] = [resident_memory(pid) / MIB]
    begun, sent, failed = time.monotonic(), 0, 0
    for part in range(PARTS):
        left = seconds - (time.monotonic() - begun)
        wanted = requests * (part + 1) // PARTS - sent
        if left < 1 or wanted < 1:
            break
        found = load(port, 16, left, wanted, bodies)
        sent += found["requests"]
        failed += sum(count for status, count in found["statuses"].items() if status != "200")
        seen.append(resident_memory(pid) / MIB)
        say(f"{sent:,} of {requests:,} requests, {time.monotonic() - begun:,.0f} s, {seen[-1]:.0f} MiB")
    return {"memory": seen, "requests": sent, "failed": failed, "seconds": time.monotonic() - begun}


def measure(model: str, seconds: float, hour: float, minutes: float) -> dict[str, Any]:
    """Everything that is reported."""
    dialogues = conversations()
    bodies = "\n".join(json.dumps({"turns": turns}, ensure_ascii=False) for turns in dialogues)
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "plain"
        weights.mkdir()
        make_model(weights, [" ".join(turns) for turns in dialogues])
        port, plain_port = free_port(), free_port()
        ours = [sys.executable, "-c", "from emoscope.cli.main import run; run()", "serve", "--port", str(port)]
        ours += ["--model", model, "--data-dir", str(Path(folder) / "data")]
        plain = module_command("benchmarks.serving.plain_server", plain_port)
        for clients in CLIENTS:
            for name, command, at in ((OURS, ours, port), (PLAIN, plain, plain_port)):
                with started(command, at, **{FOLDER: str(weights)}) as pid:
                    load(at, clients, min(3.0, seconds), 0, bodies)  # warm up
                    found = load(at, clients, seconds, 0, bodies)
                    results.append({"server": name, "memory": resident_memory(pid) / MIB, **found})
                    say(f"{name}, {clients} clients: {found['per_second']:.0f} a second, p99 {found['p99']:.1f} ms")
        with started(ours, port) as pid:
            load(port, 16, 5.0, 0, bodies)  # what is made once has been made
            endurance = endure(pid, port, round(3600 * hour), 60 * minutes, bodies)
        answer = urllib_models(ours, port)
    return {"model": answer, "results": results, "endurance": endurance, "hour": hour}


def urllib_models(command: list[str], port: int) -> str:
    with started(command, port), urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models") as answer:
        return str(json.load(answer)["models"][0]["name"])


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def table(measured: dict[str, Any]) -> list[str]:
    lines = [
        "| server | clients | requests a second | p50, ms | p99, ms | memory, MiB | not answered with 200 |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in measured["results"]:
        failed = sum(count for status, count in row["statuses"].items() if status != "200")
        lines.append(
            f"| {row['server']} | {row['clients']} | {row['per_second']:,.0f} | {row['p50']:.1f} | {row['p99']:.1f} | "
            f"{row['memory']:.0f} | {failed} |"
        )
    return lines


def draw(measured: dict[str, Any]) -> None:
    """Requests a second and the slowest answers, side by side."""
    from emoscope.core.plots import altair, rows, save, titled

    alt = altair()
    colours = alt.Scale(domain=[OURS, PLAIN], range=["#2f6fdb", "#8a8f98"])
    values = [{**row, "clients": str(row["clients"])} for row in measured["results"]]
    charts = []
    for field, title in (("per_second", "requests a second"), ("p99", "p99, milliseconds")):
        base = alt.Chart(rows(values)).encode(
            x=alt.X("clients:N", sort=[str(count) for count in CLIENTS], title="clients", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("server:N", sort=[OURS, PLAIN]),
            y=alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type="log", nice=True), axis=alt.Axis(tickCount=5)),
        )
        points = base.mark_point(filled=True, size=120, opacity=1).encode(
            color=alt.Color("server:N", scale=colours, legend=alt.Legend(orient="bottom", labelLimit=300))
        )
        texts = base.mark_text(dy=-12).encode(text=alt.Text(f"{field}:Q", format=",.3~r"))
        charts.append(alt.layer(points, texts).properties(width=280, height=220))
    save(titled(alt.hconcat(*charts), "The server under load", "loopback; logarithmic scales"), PLOT)


def report(measured: dict[str, Any]) -> str:
    endurance = measured["endurance"]
    seen = endurance["memory"]
    machine = (
        f"Model `{measured['model']}`. Machine: {platform.machine()}, {os.cpu_count()} CPU cores, Python "
        f"{platform.python_version()}; servers and clients share them. Each figure is of a fresh server after a short "
        "warm-up. The plain server has random weights of distilroberta's size."
    )
    worth = (
        f"An hour's worth of requests ({measured['hour']:g} a second): {endurance['requests']:,} in all, sent in "
        f"{endurance['seconds']:,.0f} s by 16 clients; {endurance['failed']} not answered with 200. Memory: "
        f"{seen[0]:.0f} MiB before, {seen[len(seen) // 2]:.0f} MiB half way, {seen[-1]:.0f} MiB after."
    )
    return "\n".join(
        [
            textwrap.fill(machine, WIDTH),
            "",
            *table(measured),
            "",
            f"![Requests a second and p99 of both servers]({PLOT.name})",
            "",
            textwrap.fill(worth, WIDTH),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="default")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each figure is measured")
    parser.add_argument("--hour", type=float, default=50.0, help="requests a second of the hour's worth")
    parser.add_argument("--minutes", type=float, default=30.0, help="the most that the hour's worth may take")
    parser.add_argument("--dry", action="store_true", help="print, and leave docs/results/serving.md as it is")
    chosen = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        say(f"other work is running here (load {os.getloadavg()[0]:.1f}): the figures will be of a busy machine")
    measured = measure(chosen.model, chosen.seconds, chosen.hour, chosen.minutes)
    text = report(measured)
    if chosen.dry:
        print(text)
        return
    draw(measured)
    write_section(PAGE, "load", text)


if __name__ == "__main__":
    main()
