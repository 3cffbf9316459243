"""Train every system on its task's real data, score it, predict the blind sets, and write docs/results/systems.md.

    python -m benchmarks.systems run --data DATA --encoder FOLDER [--systems idea,ku] [--workers 4] [--device cuda]
    python -m benchmarks.systems render

`run` starts a process for each job (several at once with --workers), and adds a row for each to
benchmarks/results/systems.csv; a job with a row is not run again. EmoContext is trained with several seeds and scored
on dev; EmotionX and IEST have no development set and are scored by the fixed five folds of `emoscope crossvalidate`,
or some of them. `render` writes the page's tables from the results.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.pages import write_section
from benchmarks.common.paths import PACKAGE, PAGES, RESULTS, ROOT
from benchmarks.common.processes import module_command
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import read_rows, replace_row
from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.models.former_names import current_names
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.runs.train import official_score
from emoscope.systems import SYSTEMS, System
from emoscope.tasks import Task, get_task
from emoscope.tasks.data import find_split, read_split

TABLE = RESULTS / "systems.csv"
KEYS = ("system", "task", "run")
BLIND = ROOT / "benchmarks" / "blind"
PAGE = PAGES / "systems.md"
ON_CPU = RESULTS / "systems_cpu.csv"
LARGE = RESULTS / "large_blends.csv"
MEASURED_HERE = PACKAGE / "evaluation" / "assets" / "measured.json"
FOLDS = 5

# The settings of measured runs that differ from the defaults; --encoder is added for every system that has one.
MEASURED: dict[str, dict[str, Any]] = {
    "idea": {"pretraining_text": 40_000},
    "ku": {"folds": 3, "epochs": 3, "learning_rate": 5e-5, "pretraining_text": 20_000},
    "iiidyt": {"seeds": 2, "epochs": 5},
    "figure-eight": {"seeds": 1, "lm_epochs": 3, "epochs": 6, "pretraining_text": 100_000},
    "ntua-slp": {"seeds": 1, "lm_epochs": 3, "lm_classifier_epochs": 6, "pretraining_text": 100_000},
    "amobee": {"pretraining_text": 20_000, "epochs": 2},
}


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


def do_job(name: str, task_name: str, part: str, options: argparse.Namespace) -> None:
    """One training run: its scores and, for the first run on all data, blind predictions."""
    task = get_task(task_name)
    number = int(part.removeprefix("seed").removeprefix("fold") or 0) if part != "blind" else 0
    seed = number if part.startswith("seed") else 0
    settings = dict(MEASURED.get(name, {}))
    if options.encoder and "encoder" in SYSTEMS[name].settings_class.model_fields:
        settings["encoder"] = options.encoder
    system = SYSTEMS[name](task, seed=seed, settings=settings or None)
    learn, held_out = training_data(task, system, part, number, options.data)
    begun = time.perf_counter()
    unseen = frozenset(example.text for example in held_out)
    system.fit(learn, FitContext(seed=seed, device=options.device, resources=options.data, unseen=unseen))
    result: dict[str, Any] = {
        "system": name,
        "task": task_name,
        "run": part,
        "examples": len(learn),
        "seconds": round(time.perf_counter() - begun, 1),
        "device": options.device,
    }
    if held_out:
        result |= scores(task, system, held_out)
    result["settings"] = {key: Path(value).name if key == "encoder" else value for key, value in settings.items()}
    splits = ("train", "dev") if task.name == "iest" else (system.metadata.learns_from,)
    files = [find_split(task, split, options.data).path for split in (*splits, "test")]
    record = made(seed, result["settings"], files)
    result["made"] = record.model_dump(mode="json", include={"version", "commit", "seed", "data"})
    if part in ("blind", "seed0"):
        (options.blind / task_name).mkdir(parents=True, exist_ok=True)
        for file, labels in blind_labels(task, system, read_split(task, "test", options.data)).items():
            path = options.blind / task_name / f"{file}.txt"
            task.write_labels(path, labels)
            keep(path.resolve(), record)
    options.row.write_text(json.dumps(result), encoding="utf-8")


def training_data(
    task: Task, system: System, part: str, number: int, root: Path
) -> tuple[list[Example], list[Example]]:
    """The training examples, and those to score (none for a blind run)."""
    splits = ("train", "dev") if task.name == "iest" else (system.metadata.learns_from,)
    examples = [example for split in splits for example in read_split(task, split, root)]
    if part.startswith("seed"):
        return examples, read_split(task, "dev", root)
    if part == "blind":
        return examples, []
    folds = fold_numbers(examples, FOLDS)
    return (
        [example for example, fold in zip(examples, folds, strict=True) if fold != number],
        [example for example, fold in zip(examples, folds, strict=True) if fold == number],
    )


def scores(task: Task, system: System, held_out: Sequence[Example]) -> dict[str, Any]:
    """The official score, and those with and without prior correction if the prior of real traffic is known."""
    result = {"score": _score(task, held_out, system.predict_proba(held_out))}
    if (both := with_and_without_correction(task, system, held_out)) is not None:
        result["score_uncorrected"], result["score_corrected"] = (_score(task, held_out, each) for each in both)
    return result


def blind_labels(task: Task, system: System, examples: Sequence[Example]) -> dict[str, list[str]]:
    """Labels as the paper's system predicts them and, as NAME.prior, those with the class prior corrected."""
    name = system.metadata.name
    labels = {name: system.predict(examples)}
    if (both := with_and_without_correction(task, system, examples)) is not None:
        labels[f"{name}.prior"] = [task.labels[best] for best in both[1].argmax(1)]
    return labels


def with_and_without_correction(task: Task, system: System, examples: Sequence[Example]) -> tuple[Any, Any] | None:
    """Probabilities under the training prior and under that of real traffic; None if that is unknown."""
    natural, settings = task.metadata.natural_prior, system.settings
    if natural is None or system.prior is None:
        return None
    system.settings = settings.model_copy(update={"shift": "none"})
    try:
        plain = system.predict_proba(examples)
    finally:  # the paper's own labels include the correction of its recipe
        system.settings = settings
    return plain, shift_prior(plain, system.prior, prior_vector(natural, task.labels))


def _score(task: Task, examples: Sequence[Example], answers: np.ndarray[Any, Any]) -> float:
    return round(official_score(task, examples, [task.labels[best] for best in answers.argmax(1)]), 6)


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
            for name in ("data", "encoder", "device", "blind"):
                command += [f"--{name}", str(getattr(options, name))]
            code = subprocess.run(command, stdout=handle, stderr=subprocess.STDOUT, check=False).returncode
            if code == 0:
                with writing:
                    replace_row(options.results, json.loads(result.read_text(encoding="utf-8")), KEYS)
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


def render() -> None:
    """Write the tables of all results."""
    results = read_rows(TABLE)
    rows = []
    for name in SYSTEMS:
        metadata = SYSTEMS[name].metadata
        for task in metadata.tasks:
            rows.append((task, metadata, [r for r in results if r["system"] == name and r["task"] == task]))
    for task in dict.fromkeys(task for task, _, mine in rows if mine):
        columns = COLUMNS[task == "emocontext"]
        chosen = [(metadata, mine) for where, metadata, mine in rows if where == task and mine]
        chosen.sort(key=lambda pair: -pair[0].published.get(task, 0))
        lines = [columns, "|" + "---|" * (columns.count("|") - 1)]
        write_section(PAGE, task, "\n".join([*lines, *(_row(task, *each) for each in chosen)]))
    write_section(PAGE, "cpu", "\n".join(_without_gpu()))
    write_measured(rows)


COLUMNS = {
    True: "| system | as the paper had it | class prior not corrected | corrected | runs | paper (Test2) | training | "
    "substitutions | differences | changed |",
    False: "| system | score | folds run | paper | training | substitutions | differences | changed |",
}


def write_measured(rows: Sequence[tuple[str, Any, Sequence[dict[str, Any]]]]) -> None:
    """Write the scores that `emoscope systems` shows next to the papers'; those of `large` are in its own table."""
    kept: dict[str, dict[str, Any]] = {}
    blends = {row["task"]: row for row in read_rows(LARGE)}
    for task, metadata, mine in rows:
        values = [result["score"] for result in mine if "score" in result]
        data = "dev" if task == "emocontext" else "folds of the training data"
        if metadata.name == "large" and task in blends:
            values = blends[task]["alone"]
        if values:
            spread = round(statistics.stdev(values), 4) if len(values) > 1 else None
            score = round(statistics.mean(values), 4)
            measured = {"score": score, "spread": spread, "runs": len(values), "data": data}
            kept.setdefault(metadata.name, {})[task] = measured
    MEASURED_HERE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _without_gpu() -> list[str]:
    """The table of `benchmarks.systems.cpu`."""
    lines = ["| system | task | shares measured | seconds for all | settings |", "|---|---|---|---:|---|"]
    measured = read_rows(ON_CPU)
    for name, task in dict.fromkeys((row["system"], row["task"]) for row in measured):
        mine = [row for row in measured if (row["system"], row["task"]) == (name, task)]
        shares = ", ".join(f"{row['share']:g}: {row['seconds']:,.0f} s" for row in mine)
        changed = ", ".join(_settings(mine[0])) or "the defaults"
        lines.append(f"| {name} | {task} | {shares} | {mine[0]['seconds_for_all']:,} | {changed} |")
    return lines


def _settings(result: dict[str, Any]) -> list[str]:
    """The changed settings of a run, under their current names."""
    return [f"{name}={value}" for name, value in current_names(result["settings"]).items()]


def _mean(mine: Sequence[dict[str, Any]], key: str) -> str:
    values = [result[key] for result in mine if key in result]
    if not values:
        return "-"
    spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.4f}{spread}"


def _row(task: str, metadata: Any, mine: Sequence[dict[str, Any]]) -> str:
    scored = [result for result in mine if "score" in result]
    paper = metadata.published.get(task)
    seconds = [result["seconds"] for result in mine]
    training = f"{statistics.median(seconds):,.0f} s, {mine[0]['device']}" if mine else "-"
    figures = [_mean(scored, "score")]
    if task == "emocontext":
        figures += [_mean(scored, "score_uncorrected"), _mean(scored, "score_corrected")]
    changed = {setting for result in mine for setting in _settings(result)}
    changed |= {result["note"] for result in mine if "note" in result}
    runs = str(len(scored)) if task == "emocontext" else f"{len(scored)} of {FOLDS}"
    cells = [metadata.name, *figures, runs, f"{paper:.4f}" if paper else "-", training]
    cells += ["; ".join(metadata.substitutions) or "-", "; ".join(metadata.differences) or "-"]
    cells.append(", ".join(sorted(changed)) or "-")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "job", "render"])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EMOSCOPE_DATA", "data")))
    parser.add_argument("--encoder", default="")
    parser.add_argument("--systems", default="")
    parser.add_argument("--device", default="auto")
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
