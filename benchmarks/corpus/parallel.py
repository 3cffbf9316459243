"""Measure what a second worker gains in the heavy steps of a corpus: filter, mine, dedupe.

    python -m benchmarks.corpus.parallel --data DATA [--encoder FOLDER] [--size 30000] [--repeat 2] [--write]

The dialogues have turns of EmoContext's training set, each drawn independently. Each run is a command in its own
process, including its start and the loading of models; runs with one and two workers alternate, and the fastest of each
counts. CPU seconds, of all processes and of the busiest one, hardly depend on other load; on idle cores a run takes as
long as the busiest process, or as all of them divided by the cores, whichever is longer. FOLDER is the output of
`emoscope corpus encoder`; it is slow, so it gets a third of the dialogues.
"""

import argparse
import json
import os
import random
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from benchmarks.common.processes import descendants, module_command, run_watched
from benchmarks.common.timing import cpu_of_children, cpu_of_process
from emoscope.core.dialogue import Example
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

SEEDS = 300


class Found(NamedTuple):
    """Wall time, CPU time of all processes and of the busiest one, and peak memory in MB."""

    seconds: float
    processor: float
    busiest: float
    peak: float

    @property
    def on_free_cores(self) -> float:
        """The seconds it would take with nothing else on the machine: computed, not measured."""
        return max(self.busiest, self.processor / (os.cpu_count() or 1))


def write_log(path: Path, examples: list[Example], size: int, seed: int) -> Path:
    chance = random.Random(seed)
    columns = list(zip(*(one.dialogue.texts for one in examples), strict=True))
    with path.open("w", encoding="utf-8") as handle:
        for _ in range(size):
            handle.write(
                json.dumps({"turns": [chance.choice(column) for column in columns]}, ensure_ascii=False) + "\n"
            )
    return path


def write_seeds(path: Path, examples: list[Example]) -> Path:
    by_label: dict[str, list[Example]] = {}
    for example in examples:
        mine = by_label.setdefault(str(example.label), [])
        if len(mine) < SEEDS:
            mine.append(example)
    with path.open("w", encoding="utf-8") as handle:
        for label, mine in by_label.items():
            handle.writelines(json.dumps({"turns": one.dialogue.texts, "label": label}) + "\n" for one in mine)
    return path


def measured(command: list[str], output: Path) -> Found:
    shutil.rmtree(output, ignore_errors=True)
    output.unlink(missing_ok=True)
    before = cpu_of_children()
    with processor_seconds() as of_each:
        spent = run_watched(module_command("emoscope", "corpus", *command, "-o", output))
    return Found(spent.seconds, cpu_of_children() - before, max(of_each.values()), spent.peak)


@contextmanager
def processor_seconds() -> Iterator[dict[int, float]]:
    """Those of each process that is started within the block, nearly to its end."""
    found: dict[int, float] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            for pid in descendants(os.getpid()):
                with suppress(OSError):
                    found[pid] = cpu_of_process(pid)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()


def steps(
    folder: Path, size: int, seed: int, data: Path | None, encoder: str | None
) -> Iterator[tuple[str, int, list[str]]]:
    examples = read_split(get_task("emocontext"), "train", data)
    random.Random(seed).shuffle(examples)
    seeds = str(write_seeds(folder / "seeds.jsonl", examples))
    log = str(write_log(folder / "log.jsonl", examples, size, seed))
    yield "filter, all, mask", size, ["filter", log, "--personal", "mask"]
    if encoder:
        third = str(write_log(folder / "third.jsonl", examples, size // 3, seed))
        yield "mine, encoder", size // 3, ["mine", third, "--seeds", seeds, "--encoder", encoder]
    yield "mine, n-grams", size, ["mine", log, "--seeds", seeds]
    yield "dedupe", size, ["dedupe", log]


def main() -> None:
    parser = command_line(__doc__, "data", "seed", "write")
    parser.add_argument("--encoder")
    parser.add_argument("--size", type=int, default=30_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    options = parser.parse_args()
    with printed_section("corpus", "parallel", write=options.write):
        print_table(options)


def print_table(options: argparse.Namespace) -> None:
    heads = (
        "wall, s",
        "speedup",
        "CPU, s",
        "CPU of the busiest process, s",
        "speedup on idle cores",
        "peak MB",
    )
    print(f"| step | dialogues | workers | {' | '.join(heads)} |")
    print("|---" + "|---:" * (2 + len(heads)) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for step, size, command in steps(folder, options.size, options.seed, options.data, options.encoder):
            found: dict[int, list[Found]] = {1: [], 2: []}
            for _ in range(options.repeat):
                for workers, runs in found.items():
                    given = [*command, "--workers", str(workers), "--engine", options.engine]
                    runs.append(measured(given, folder / "output.jsonl"))
            best = {workers: min(runs) for workers, runs in found.items()}
            for workers, one in best.items():
                print(
                    f"| {step} | {size:,} | {workers} | {one.seconds:.1f} | {best[1].seconds / one.seconds:.2f} | "
                    f"{one.processor:.1f} | {one.busiest:.1f} | "
                    f"{best[1].on_free_cores / one.on_free_cores:.2f} | {one.peak:,.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
