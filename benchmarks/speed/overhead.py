"""Measure the overhead of a single prediction: `detect` of one dialogue against a bare call of its network.

    python -m benchmarks.speed.overhead --data DATA [--model default]

CPU time; the three alternate for each dialogue. Writes a section of docs/results/speed.md.
"""

import os
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common.emocontext import emocontext_turns
from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from benchmarks.common.timing import Work, seconds
from emoscope.core.dialogue import Dialogue, Example
from emoscope.detector import load
from emoscope.detector.model import BLOCK
from emoscope.models.onnx.description import INT8
from emoscope.models.onnx.session import open_graph
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split

DIALOGUES, ROUNDS = 300, 3


def least(work: Work) -> float:
    return min(seconds(work, time.thread_time) for _ in range(ROUNDS))


def measure(model: str, data: Path | None) -> dict[str, float]:
    """Microseconds of a dialogue, the median of all: alone in `detect`, and the bare calls."""
    os.environ["EMOSCOPE_CORES"] = "1"
    detector: Any = load(model)
    nano = load("nano")
    network = detector._model.block._network
    run = open_graph(detector._model.folder / BLOCK / INT8)
    dialogues = emocontext_turns(data, "dev")[:DIALOGUES]
    times: dict[str, list[float]] = {name: [] for name in ("detect", "kernel", "session.run", "nano")}
    for turns in dialogues:
        row = network.layout.window.rows([Example.last(Dialogue.of(turns))], network.tokenizer)
        feed = network.layout.feed(row)
        works: dict[str, Work] = {
            "detect": partial(detector.detect, turns),
            "kernel": partial(network._scores, row),
            "session.run": partial(run, feed),
        }
        for name, work in works.items():
            times[name].append(least(work))
    for turns in dialogues:  # on its own, as it is used
        times["nano"].append(least(partial(nano.detect, turns)))
    return {name: round(1e6 * statistics.median(each), 1) for name, each in times.items()}


def section(found: dict[str, float]) -> str:
    return (
        f"One dialogue alone: {found['detect']:,.0f} µs in `default.detect`, text to answer, of which "
        f"{found['kernel']:,.0f} µs are the kernel; a bare `session.run` of the same weights in onnxruntime takes "
        f"{found['session.run']:,.0f} µs. So an answer costs **{found['detect'] / found['session.run']:.2f} times** a "
        f"bare `session.run`, and {found['detect'] / found['kernel']:.2f} times the kernel alone. `nano.detect` takes "
        f"**{found['nano'] / 1000:.3f} ms**."
    )


def main() -> None:
    parser = command_line(__doc__, "data", "model")
    options = parser.parse_args()
    found = measure(options.model, options.data)
    table = RESULTS / "speed_overhead.csv"
    write_rows(table, [{"what": name, "microseconds": each} for name, each in found.items()])
    dev = find_split(get_task("emocontext"), "dev", options.data).path
    keep(table, made(0, {"dialogues": DIALOGUES, "rounds": ROUNDS}, [dev]))
    text = section(found)
    print(text)
    write_section(PAGES / "speed.md", "overhead", text)


if __name__ == "__main__":
    main()
