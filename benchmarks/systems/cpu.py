"""Training times of the systems without a transformer on this machine's CPU, for docs/results/systems.md.

    python -m benchmarks.systems.cpu --data DATA [--systems nelec,snu-ids] [--shares 0.05 0.1] [--whole]

Each system is trained on two shares of its training data (and of its pretraining text), from which the time for all
of it is extrapolated. `--whole` trains on everything instead. With the paper's settings, systems with a language model
take much longer than the limit of twenty minutes; SMALLER has settings for machines without a GPU. Results are written
to benchmarks/results/systems_cpu.csv, and `python -m benchmarks.systems render` writes the table.
"""

import argparse
import os
from pathlib import Path
from typing import Any

from benchmarks.common import timing
from benchmarks.common.options import command_line
from benchmarks.common.paths import RESULTS
from benchmarks.common.processes import module_output
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import Row, read_rows, write_rows
from emoscope.core.fit_context import FitContext
from emoscope.systems import SYSTEMS
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split, read_split

TABLE = RESULTS / "systems_cpu.csv"
LIMIT = 20 * 60
MEASURED_SYSTEMS = (
    ("emocontext-baseline", "emocontext"),
    ("nelec", "emocontext"),
    ("caire-hkust", "emocontext"),
    ("snu-ids", "emocontext"),
    ("thu-hcsi", "emocontext"),
    ("figure-eight", "emocontext"),
    ("podlab", "emotionx-friends"),
    ("cyut", "emotionx-friends"),
    ("iest-baseline", "iest"),
    ("ntua-slp", "iest"),
)
SMALLER: dict[str, dict[str, Any]] = {
    "figure-eight": {
        "directions": "forward",
        "seeds": 1,
        "embedding_size": 200,
        "hidden_size": 400,
        "max_features": 10_000,
        "pretraining_text": 20_000,
        "lm_epochs": 2,
        "tune_epochs": 2,
        "epochs": 4,
    },
    "ntua-slp": {
        "seeds": 1,
        "embedding_size": 100,
        "hidden_size": 150,
        "max_features": 10_000,
        "pretraining_text": 20_000,
        "epochs": 3,
        "source_epochs": 1,
        "lm_epochs": 1,
        "tune_epochs": 1,
        "lm_classifier_epochs": 3,
    },
}


def seconds(name: str, task_name: str, share: float, data: Path) -> float:
    """The seconds to train on a share of all data, in this process."""
    task = get_task(task_name)
    settings = dict(SMALLER.get(name, {}))
    if text := getattr(SYSTEMS[name](task, settings=settings).settings, "pretraining_text", None):
        settings["pretraining_text"] = max(1, round(text * share))
    system = SYSTEMS[name](task, settings=settings or None)
    splits = ("train", "dev") if task_name == "iest" else (system.metadata.learns_from,)
    examples = [example for split in splits for example in read_split(task, split, data)]
    chosen = examples[: round(len(examples) * share)]
    return timing.seconds(lambda: system.fit(chosen, FitContext(device="cpu", resources=data)))


def measure(name: str, task_name: str, shares: list[float], data: Path) -> list[Row]:
    """A row for each share, each trained in its own process, with the estimated time for all data."""
    times = []
    for share in shares:
        printed = module_output("benchmarks.systems.cpu", "--data", data, "--one", name, task_name, share)
        times.append(float(printed.split()[-1]))
    whole = times[-1]
    if shares[-1] < 1:
        slope = (times[-1] - times[0]) / (shares[-1] - shares[0])
        whole += max(0.0, slope) * (1 - shares[-1])  # a slow start can make the smaller share the slower one
    same = {"seconds_for_all": round(whole), "cores": os.cpu_count(), "settings": SMALLER.get(name, {})}
    return [
        {"system": name, "task": task_name, "share": share, "seconds": round(seconds, 1), **same}
        for share, seconds in zip(shares, times, strict=True)
    ]


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("--systems", default=",".join(name for name, _ in MEASURED_SYSTEMS))
    parser.add_argument("--shares", type=float, nargs=2, default=[0.05, 0.1])
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(seconds(options.one[0], options.one[1], float(options.one[2]), options.data))
        return
    for name, task_name in MEASURED_SYSTEMS:
        if name in options.systems.split(","):
            rows = measure(name, task_name, [1.0] if options.whole else options.shares, options.data)
            write_rows(TABLE, [*(row for row in read_rows(TABLE) if row["system"] != name), *rows])
            keep(
                TABLE,
                made(0, {"shares": options.shares}, [find_split(get_task(task_name), "train", options.data).path]),
            )
            verdict = "within" if rows[0]["seconds_for_all"] <= LIMIT else "beyond"
            print(f"{name}: {rows[0]['seconds_for_all']} s in all, {verdict} the limit", flush=True)


if __name__ == "__main__":
    main()
