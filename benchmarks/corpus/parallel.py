"""What a second worker gains in the heavy steps of a corpus: filter, mine, dedupe.

    python -m benchmarks.corpus.parallel --data DATA [--encoder FOLDER] [--size 30000] [--repeat 2] [--write]

The dialogues are EmoContext's training set, each turn drawn for itself. Every run is a command in a process of its own,
starting and loading models included; runs with one worker and with two take turns, and the fastest of each counts.
Processor seconds, of all processes together and of the busiest one, hardly change with what else the machine does; on
free cores a run takes as long as the busiest process, or as all of them divided by the cores, whichever is longer.
FOLDER is what `emoscope corpus encoder` wrote; it gets a third of the dialogues, for it takes long.
"""

import argparse
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.pages import printed_section
from benchmarks.common.processes import descendants, run_watched
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
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with processor_seconds() as of_each:
        spent = run_watched([sys.executable, "-m", "emoscope", "corpus", *command, "-o", str(output)])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Found(spent.seconds, processor, max(of_each.values()), spent.peak)


@contextmanager
def processor_seconds() -> Iterator[dict[int, float]]:
    """Those of each process that is started within the block, nearly to its end."""
    found: dict[int, float] = {}
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            for pid in descendants(os.getpid()):
                with suppress(OSError):
                    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
                    found[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--encoder")
    parser.add_argument("--size", type=int, default=30_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/corpus.md")
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
