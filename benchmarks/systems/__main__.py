"""Train every system on its task's real data, score it, predict the blind sets, and write docs/results/systems.md.

    python -m benchmarks.systems run --data DATA --encoder FOLDER [--systems idea,ku] [--workers 4] [--device cuda]
    python -m benchmarks.systems render

`run` starts a process for each job (several at once with --workers), and adds a row for each to
benchmarks/results/systems.csv; a job with a row is not run again. EmoContext is trained with several seeds and scored
on dev; EmotionX and IEST have no development set and are scored by the fixed five folds of `emoscope crossvalidate`,
or some of them. `render` writes the page from the results.
"""

import argparse
import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.common.options import command_line
from benchmarks.common.paths import ROOT
from benchmarks.common.processes import module_command
from benchmarks.common.provenance import seal
from benchmarks.common.tables import read_rows, replace_row
from benchmarks.systems.job import FOLDS, do_job
from benchmarks.systems.page import TABLE, render
from emoscope.systems import SYSTEMS

KEYS = ("system", "task", "run")
BLIND = ROOT / "benchmarks" / "blind"


def jobs(systems: Sequence[str], seeds: int, folds: int = FOLDS) -> Iterator[tuple[str, str, str]]:
    """All jobs as (system, task, run), those with blind predictions first."""
    pairs = [(name, task) for name in systems for task in SYSTEMS[name].metadata.tasks]
    for name, task in pairs:
        yield name, task, "seed0" if task == "emocontext" else "blind"
    for number in range(max(seeds, folds)):
        for name, task in pairs:
            if task == "emocontext" and 0 < number < seeds:
                yield name, task, f"seed{number}"
            if task != "emocontext" and number < folds:
                yield name, task, f"fold{number}"


def run(options: argparse.Namespace) -> None:
    """Run all jobs without a result, several at once."""
    chosen = options.systems.split(",") if options.systems else list(SYSTEMS)
    done = {tuple(row[key] for key in KEYS) for row in read_rows(options.results)}
    waiting = [job for job in jobs(chosen, options.seeds, options.folds) if job not in done]
    waiting.sort(key=_seconds_before, reverse=True)  # the longest first, so that all workers finish together
    until = time.monotonic() + options.minutes * 60
    writing = threading.Lock()
    logs = options.results.with_suffix(".logs")

    def run_job(job: tuple[str, str, str]) -> None:
        if time.monotonic() > until:
            return
        log = logs / "{}.{}.{}.txt".format(*job)
        log.parent.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, log.open("w") as handle:
            result = Path(folder) / "row.json"
            command = module_command("benchmarks.systems", "job", "--job", ",".join(job), "--row", result)
            for name in ("data", "encoder", "device", "precision", "blind"):
                command += [f"--{name}", str(getattr(options, name))]
            code = subprocess.run(command, stdout=handle, stderr=subprocess.STDOUT, check=False).returncode
            if code == 0:
                with writing:
                    replace_row(options.results, json.loads(result.read_text(encoding="utf-8")), KEYS)
                    seal(options.results.resolve())  # each row has a record of its own
        if code == 0:
            log.unlink()
        state = "done" if code == 0 else f"FAILED, see {log}"
        print(f"{' '.join(job)}: {state} in {time.monotonic() - begun:.0f} s", flush=True)

    with ThreadPoolExecutor(options.workers) as pool:
        list(pool.map(run_job, waiting))


def _seconds_before(job: tuple[str, str, str]) -> float:
    """The time of such a job in an earlier run; infinite for a new one."""
    past = [row["seconds"] for row in read_rows(TABLE) if (row["system"], row["task"]) == job[:2]]
    return float(max(past, default=1e9))


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("what", choices=["run", "job", "render"])
    parser.add_argument("--encoder", default="")
    parser.add_argument("--systems", default="")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto", help="bfloat16 is about twice as fast on a CPU that has it")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=FOLDS, help="run only the first of the five folds")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6, help="start no job after this many minutes")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--row", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, default=TABLE, help="the table to add to")
    parser.add_argument("--blind", type=Path, default=BLIND)
    options = parser.parse_args()
    match options.what:
        case "run":
            run(options)
        case "job":
            name, task, part = options.job.split(",")
            do_job(name, task, part, options)
        case "render":
            render()


if __name__ == "__main__":
    main()
