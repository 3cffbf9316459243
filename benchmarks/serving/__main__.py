"""Measure the server under load beside ten lines of FastAPI around the same model, and write docs/results/serving.md.

    python -m benchmarks.serving [--models default nano] [--seconds 4] [--rounds 5] [--hour 50] [--minutes 30]

Both servers run here, on loopback, at the same time, and are asked in turn, a few seconds each: so whatever else the
machine does, it does to both. Each runs in a session of its own, and so do the clients: on a busy Linux machine a
session's share of the cores does not grow with its threads (of which the ten lines have forty). 1, 16, 64 and 128
clients ask again as soon as they are answered. Then our server gets an hour's worth of requests (3,600 times `--hour`)
as fast as it takes them, for `--minutes` at most, and its memory before and after is compared. Progress goes to
standard error.
"""

import argparse
import json
import os
import platform
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common.memory import MIB, resident_memory
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES
from benchmarks.common.processes import module_command

PAGE = PAGES / "serving.md"
PLOT = PAGES / "serving.svg"
CLIENTS = (1, 16, 64, 128)
WIDTH = 128  # of the lines of our documents
PARTS = 20  # of the hour's worth, after each of which memory is read
OURS, PLAIN = "emoscope serve", "ten lines of FastAPI"

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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: list[str], port: int, **environment: str) -> Iterator[int]:
    """A server until it is ready; gives its process id."""
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
    done = subprocess.run(command, input=bodies, capture_output=True, text=True, check=True, start_new_session=True)
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


def cpu_seconds(pid: int) -> float:
    """The processor time a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(models: list[str], seconds: float, rounds: int, hour: float, minutes: float) -> dict[str, Any]:
    """Everything that is reported."""
    bodies = "\n".join(json.dumps({"turns": turns}, ensure_ascii=False) for turns in conversations())
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            port, plain_port = free_port(), free_port()
            plain = module_command("benchmarks.serving.plain_server", plain_port, model)
            with started(_ours(model, port, folder), port) as pid, started(plain, plain_port) as plain_pid:
                servers = ((OURS, port, pid), (PLAIN, plain_port, plain_pid))
                for clients in CLIENTS:
                    results += compare(model, servers, clients, seconds, rounds, bodies)
        endurance = None
        if hour and minutes:
            port = free_port()
            with started(_ours(models[0], port, folder), port) as pid:
                load(port, 16, 5.0, 0, bodies)  # what is made once has been made
                endurance = endure(pid, port, round(3600 * hour), 60 * minutes, bodies)
    return {"results": results, "endurance": endurance, "hour": hour, "rounds": rounds, "seconds": seconds}


def _ours(model: str, port: int, folder: str) -> list[str]:
    command = [sys.executable, "-c", "from emoscope.cli.main import run; run()", "serve", "--port", str(port)]
    return [*command, "--model", model, "--data-dir", str(Path(folder) / "data")]


def compare(
    model: str, servers: Sequence[tuple[str, int, int]], clients: int, seconds: float, rounds: int, bodies: str
) -> list[dict[str, Any]]:
    """Both servers in turn, so many times; of each figure the median of the rounds."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name, *_ in servers}
    for _ in range(rounds):
        for name, port, pid in servers:
            load(port, clients, 0.5, 0, bodies)  # warm up
            before = cpu_seconds(pid)
            row = load(port, clients, seconds, 0, bodies)
            row["cpu"] = (cpu_seconds(pid) - before) / row["requests"] * 1000
            found[name].append(row)
    results = []
    for name, _, pid in servers:
        rows = found[name]
        middle = {key: statistics.median(row[key] for row in rows) for key in ("per_second", "p50", "p99", "cpu")}
        failed = sum(count for row in rows for status, count in row["statuses"].items() if status != "200")
        base = {"model": model, "server": name, "clients": clients, "memory": resident_memory(pid) / MIB}
        results.append({**base, **middle, "failed": failed})
        say(f"{model}, {name}, {clients}: {middle['per_second']:.0f} a second, p99 {middle['p99']:.1f} ms")
    ratios = [one["per_second"] / other["per_second"] for one, other in zip(*found.values(), strict=True)]
    results[0]["times"] = statistics.median(ratios)
    return results


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def table(measured: dict[str, Any]) -> list[str]:
    lines = [
        "| model | clients | server | requests a second | times | p50, ms | p99, ms | server's CPU, ms a request | "
        "memory, MiB | not answered with 200 |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in measured["results"]:
        times = f"{row['times']:.1f}" if "times" in row else ""
        lines.append(
            f"| {row['model']} | {row['clients']} | {row['server']} | {row['per_second']:,.0f} | {times} | "
            f"{row['p50']:.1f} | {row['p99']:.1f} | {row['cpu']:.2f} | {row['memory']:.0f} | {row['failed']} |"
        )
    return lines


def draw(measured: dict[str, Any]) -> None:
    """Requests a second and the slowest answers, side by side."""
    from emoscope.core.plots import altair, rows, save, titled

    alt = altair()
    colours = alt.Scale(domain=[OURS, PLAIN], range=["#2f6fdb", "#8a8f98"])
    first = measured["results"][0]["model"]
    values = [{**row, "clients": str(row["clients"])} for row in measured["results"] if row["model"] == first]
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
    save(titled(alt.hconcat(*charts), f"The server under load, model {first}", "loopback; logarithmic scales"), PLOT)


def report(measured: dict[str, Any]) -> str:
    machine = (
        f"Machine: {platform.machine()}, {os.cpu_count()} CPU cores, Python {platform.python_version()}; both servers, "
        f"the clients and whatever else ran share them (load at the end: {os.getloadavg()[0]:.1f}). Figures are "
        f"medians of {measured['rounds']} rounds of {measured['seconds']:g} s, the servers in turn; `times` "
        "is the median of the rounds' ratios. Servers and clients have a session each, so that on a busy machine the "
        "share of the cores that a server is given does not grow with its threads, of which the ten lines have forty. "
        "Where a machine does other work, the CPU time of a request says most."
    )
    lines = [
        textwrap.fill(machine, WIDTH),
        "",
        *table(measured),
        "",
        f"![Requests a second and p99 of both servers]({PLOT.name})",
    ]
    if (endurance := measured["endurance"]) is not None:
        seen = endurance["memory"]
        worth = (
            f"An hour's worth of requests ({measured['hour']:g} a second): {endurance['requests']:,} in all, sent in "
            f"{endurance['seconds']:,.0f} s by 16 clients; {endurance['failed']} not answered with 200. Memory: "
            f"{seen[0]:.0f} MiB before, {seen[len(seen) // 2]:.0f} MiB half way, {seen[-1]:.0f} MiB after."
        )
        lines += ["", textwrap.fill(worth, WIDTH)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["default", "nano"])
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each server is asked in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hour", type=float, default=50.0, help="requests a second of the hour's worth; 0: none")
    parser.add_argument("--minutes", type=float, default=30.0, help="the most that the hour's worth may take")
    parser.add_argument("--dry", action="store_true", help="print, and leave docs/results/serving.md as it is")
    chosen = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        say(f"other work is running here (load {os.getloadavg()[0]:.1f}): the figures will be of a busy machine")
    measured = measure(chosen.models, chosen.seconds, chosen.rounds, chosen.hour, chosen.minutes)
    text = report(measured)
    if chosen.dry:
        print(text)
        return
    draw(measured)
    write_section(PAGE, "load", text)


if __name__ == "__main__":
    main()
