"""Measure the server under load against ten lines of FastAPI with the same model, and write docs/results/serving.md.

    python -m benchmarks.serving [--models default nano] [--seconds 4] [--rounds 5]

Both servers run at the same time on loopback and are queried in turn, a few seconds each, so that other load affects
both. Servers and clients have their own scheduling sessions: on a busy Linux machine a session's share of the cores
does not grow with its threads (the ten lines have forty). 1, 16, 64 and 128 clients send the next request as soon as
they have a response. Progress goes to standard error.
"""

import os
import platform
import statistics
import tempfile
import textwrap
from collections.abc import Sequence
from typing import Any

from benchmarks.common.memory import MIB, resident_memory
from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES
from benchmarks.common.processes import module_command
from benchmarks.common.timing import cpu_of_process
from benchmarks.serving.local import WIDTH, bodies, free_port, load, our_server, say, started
from emoscope.evaluation.card import markdown_table

PAGE = PAGES / "serving.md"
PLOT = PAGES / "serving.svg"
CLIENTS = (1, 16, 64, 128)
OURS, PLAIN = "emoscope serve", "ten lines of FastAPI"


def measure(models: list[str], seconds: float, rounds: int) -> dict[str, Any]:
    """Everything that is reported."""
    requests = bodies()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            port, plain_port = free_port(), free_port()
            plain = module_command("benchmarks.serving.plain_server", plain_port, model)
            with started(our_server(model, port, folder), port) as pid, started(plain, plain_port) as plain_pid:
                servers = ((OURS, port, pid), (PLAIN, plain_port, plain_pid))
                for clients in CLIENTS:
                    results += compare(model, servers, clients, seconds, rounds, requests)
    return {"results": results, "rounds": rounds, "seconds": seconds}


def compare(
    model: str, servers: Sequence[tuple[str, int, int]], clients: int, seconds: float, rounds: int, requests: str
) -> list[dict[str, Any]]:
    """Query both servers in turn; the median of all rounds."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name, *_ in servers}
    for _ in range(rounds):
        for name, port, pid in servers:
            load(port, clients, 0.5, 0, requests)  # warm up
            before = cpu_of_process(pid)
            row = load(port, clients, seconds, 0, requests)
            row["cpu"] = (cpu_of_process(pid) - before) / row["requests"] * 1000
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


def table(measured: dict[str, Any]) -> str:
    heads = ("requests/s", "speedup", "p50, ms", "p99, ms", "CPU, ms/request", "memory, MiB", "errors")
    rows = [
        [
            row["model"],
            str(row["clients"]),
            row["server"],
            f"{row['per_second']:,.0f}",
            f"{row['times']:.1f}" if "times" in row else "",
            f"{row['p50']:.1f}",
            f"{row['p99']:.1f}",
            f"{row['cpu']:.2f}",
            f"{row['memory']:.0f}",
            str(row["failed"]),
        ]
        for row in measured["results"]
    ]
    return markdown_table(["model", "clients", "server", *heads], rows)


def draw(measured: dict[str, Any]) -> None:
    """Requests a second and the slowest answers, side by side."""
    from emoscope.core.plots import altair, rows, save, titled

    alt = altair()
    colours = alt.Scale(domain=[OURS, PLAIN], range=["#2f6fdb", "#8a8f98"])
    first = measured["results"][0]["model"]
    values = [{**row, "clients": str(row["clients"])} for row in measured["results"] if row["model"] == first]
    charts = []
    for field, title in (("per_second", "requests/s"), ("p99", "p99, ms")):
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
        f"the clients and other work share them (load average at the end: {os.getloadavg()[0]:.1f}). Medians of "
        f"{measured['rounds']} interleaved rounds of {measured['seconds']:g} s; the speedup is the median ratio of a "
        "round. Each server has its own scheduling session, so that the forty threads of the FastAPI server do not "
        "give "
        "it a larger share of a busy machine. On a busy machine, compare CPU time."
    )
    lines = [
        textwrap.fill(machine, WIDTH),
        "",
        table(measured),
        "",
        f"![Throughput and p99 of both servers]({PLOT.name})",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--models", nargs="+", default=["default", "nano"])
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each server is asked in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dry", action="store_true", help="print, and leave docs/results/serving.md as it is")
    chosen = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        say(f"other work is running here (load {os.getloadavg()[0]:.1f}): the figures will be of a busy machine")
    measured = measure(chosen.models, chosen.seconds, chosen.rounds)
    text = report(measured)
    if chosen.dry:
        print(text)
        return
    draw(measured)
    write_section(PAGE, "load", text)


if __name__ == "__main__":
    main()
