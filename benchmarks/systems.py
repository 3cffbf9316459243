"""Train every system on its task's real data, score it, predict the blind sets, and regenerate docs/systems.md.

    python benchmarks/systems.py run --data DATA --encoder FOLDER [--systems idea,ku] [--workers 4] [--device cuda]
    python benchmarks/systems.py render

`run` does one job after another (several at once with --workers), each in a process of its own, and keeps each result
in benchmarks/results/systems/; a job that has its result is not done again. EmoContext is trained with several seeds
and scored on dev; EmotionX and IEST have no development set of their own and are scored by the fixed 5-fold of
`emoscope crossvalidate`. `render` writes the table from the results.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.runs.train import official_score
from emoscope.systems import SYSTEMS, System
from emoscope.tasks import Task, get_task
from emoscope.tasks.data import read_split

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "systems"
BLIND = HERE / "blind"
DOCS = HERE.parent / "docs" / "systems.md"
ON_CPU = HERE / "results" / "systems-cpu.json"
LARGE = HERE / "results" / "large"
MEASURED_HERE = HERE.parent / "src" / "emoscope" / "systems" / "assets" / "measured.json"
FOLDS = 5

# Where a measured run leaves the recipe's defaults; the encoder is set for every system that has one.
MEASURED: dict[str, dict[str, Any]] = {
    "idea": {"pretraining_text": 40_000},
    "ku": {"folds": 3, "epochs": 3, "learning_rate": 5e-5, "pretraining_text": 20_000},
    "iiidyt": {"seeds": 2, "epochs": 5},
    "figure-eight": {"seeds": 1, "lm_epochs": 3, "epochs": 6, "pretraining_text": 100_000},
    "ntua-slp": {"seeds": 1, "lm_epochs": 3, "lm_classifier_epochs": 6, "pretraining_text": 100_000},
    "amobee": {"pretraining_text": 20_000, "epochs": 2},
}


def jobs(systems: Sequence[str], seeds: int, folds: int = FOLDS) -> Iterator[tuple[str, str, str]]:
    """What there is to do, the blind predictions first: (system, task, part)."""
    every = [(name, task) for name in systems for task in SYSTEMS[name].metadata.tasks]
    for name, task in every:
        yield name, task, "seed0" if task == "emocontext" else "blind"
    for number in range(max(seeds, folds)):
        for name, task in every:
            if task == "emocontext" and 0 < number < seeds:
                yield name, task, f"seed{number}"
            if task != "emocontext" and number < folds:
                yield name, task, f"fold{number}"


def do_job(name: str, task_name: str, part: str, options: argparse.Namespace) -> None:
    """One training run: its scores and, where it is the one that counts, the blind predictions."""
    task = get_task(task_name)
    number = int(part.removeprefix("seed").removeprefix("fold") or 0) if part != "blind" else 0
    seed = number if part.startswith("seed") else 0
    settings = dict(MEASURED.get(name, {}))
    if "encoder" in getattr(SYSTEMS[name], "defaults", {}) and options.encoder:
        settings["encoder"] = options.encoder
    system = SYSTEMS[name](task, seed=seed, settings=settings or None)
    learn, held_out = training_data(task, system, part, number, options.data)
    begun = time.perf_counter()
    unseen = frozenset(example.text for example in held_out)
    system.fit(learn, FitContext(seed=seed, device=options.device, resources=options.data, unseen=unseen))
    result: dict[str, Any] = {
        "system": name,
        "task": task_name,
        "part": part,
        "seconds": round(time.perf_counter() - begun, 1),
        "device": options.device,
        "settings": {key: Path(value).name if key == "encoder" else value for key, value in settings.items()},
        "examples": len(learn),
    }
    if held_out:
        result |= scores(task, system, held_out)
    if part in ("blind", "seed0"):
        labels = system.predict(read_split(task, "test", options.data))
        (options.blind / task_name).mkdir(parents=True, exist_ok=True)
        task.write_labels(options.blind / task_name / f"{name}.txt", labels)
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / f"{name}.{task_name}.{part}.json").write_text(json.dumps(result, indent=1) + "\n")


def training_data(
    task: Task, system: System, part: str, number: int, root: Path
) -> tuple[list[Example], list[Example]]:
    """What to learn from, and what to score on (nothing for a blind run)."""
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
    """The official score as the recipe answers, and with and without correcting the class prior where that is known."""
    answers = system.predict_proba(held_out)
    found = {"score": _score(task, held_out, answers)}
    natural = task.metadata.natural_prior
    prior = getattr(system, "prior", None)
    settings = getattr(system, "settings", None)
    if natural is not None and prior is not None and settings is not None:
        settings["shift"] = "none"
        plain = system.predict_proba(held_out)
        found["score_uncorrected"] = _score(task, held_out, plain)
        found["score_corrected"] = _score(task, held_out, shift_prior(plain, prior, prior_vector(natural, task.labels)))
    return found


def _score(task: Task, examples: Sequence[Example], answers: np.ndarray[Any, Any]) -> float:
    return round(official_score(task, examples, [task.labels[best] for best in answers.argmax(1)]), 6)


def run(options: argparse.Namespace) -> None:
    """All jobs that have no result yet, several at once."""
    chosen = options.systems.split(",") if options.systems else list(SYSTEMS)
    waiting = [
        job
        for job in jobs(chosen, options.seeds, options.folds)
        if not (options.results / "{}.{}.{}.json".format(*job)).exists()
    ]
    waiting.sort(key=_seconds_before, reverse=True)  # so that no worker is left alone with the longest at the end
    until = time.monotonic() + options.minutes * 60

    def one(job: tuple[str, str, str]) -> None:
        if time.monotonic() > until:
            return
        command = [sys.executable, __file__, "job", "--job", ",".join(job)]
        for name in ("data", "encoder", "device", "results", "blind"):
            command += [f"--{name}", str(getattr(options, name))]
        log = options.results / "logs" / "{}.{}.{}.txt".format(*job)
        log.parent.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        with log.open("w") as handle:
            done = subprocess.run(command, stdout=handle, stderr=subprocess.STDOUT, check=False)
        if done.returncode == 0:
            log.unlink()
        state = "done" if done.returncode == 0 else f"FAILED, see {log}"
        print(f"{' '.join(job)}: {state} in {time.monotonic() - begun:.0f} s", flush=True)

    with ThreadPoolExecutor(options.workers) as pool:
        list(pool.map(one, waiting))


def _seconds_before(job: tuple[str, str, str]) -> float:
    """How long such a job took on an earlier run; a new one may take long."""
    past = [json.loads(path.read_text())["seconds"] for path in RESULTS.glob(f"{job[0]}.{job[1]}.*.json")]
    return float(max(past, default=1e9))


def render() -> None:
    """The table of all results."""
    results = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    rows = []
    for name in SYSTEMS:
        metadata = SYSTEMS[name].metadata
        for task in metadata.tasks:
            mine = [r for r in results if r["system"] == name and r["task"] == task]
            rows.append((task, metadata, mine))
    parts = [HEAD]
    for task, heading in HEADINGS.items():
        columns = COLUMNS[task == "emocontext"]
        parts += [f"## {heading}", "", columns, "|" + "---|" * (columns.count("|") - 1)]
        chosen = [(metadata, mine) for where, metadata, mine in rows if where == task and mine]
        chosen.sort(key=lambda pair: -pair[0].published.get(task, 0))
        parts += [_row(task, metadata, mine) for metadata, mine in chosen]
        parts.append("")
    parts += _without_gpu()
    write_measured(rows)
    DOCS.write_text("\n".join(parts), encoding="utf-8")
    print(DOCS.read_text(encoding="utf-8"))


HEAD = """# Systems: ours beside the papers'

Regenerated by `python benchmarks/systems.py render` from the results of `python benchmarks/systems.py run`. A score is
the task's official metric: the mean over seeds (EmoContext, on dev) or over the fixed five folds (EmotionX, IEST), with
the standard deviation where there are several runs. The papers' figures are on their own test sets: a mark to compare
with, not the same measurement. IEST is a re-split with a fifth of the official training data: its scores compare with
each other and with the MaxEnt baseline's beside them, not with the published table. Under "changed" stand the settings
that a measured run changed, and the encoder that took the place of the paper's.
"""
HEADINGS = {
    "emocontext": "EmoContext, dev (Test1)",
    "emotionx-friends": "EmotionX Friends, five folds of the training set",
    "emotionx-push": "EmotionX EmotionPush, five folds of the training set",
    "iest": "IEST, five folds of trial and labelled set (re-split)",
}
COLUMNS = {
    True: "| system | as the paper had it | class prior not corrected | corrected | runs | paper (Test2) | training | "
    "substitutions | changed |",
    False: "| system | score | runs | paper | training | substitutions | changed |",
}


def write_measured(rows: Sequence[tuple[str, Any, Sequence[dict[str, Any]]]]) -> None:
    """What `emoscope systems` shows beside the papers' figures; `large` has results of its own."""
    kept: dict[str, dict[str, Any]] = {}
    for task, metadata, mine in rows:
        values = [result["score"] for result in mine if "score" in result]
        data = "dev" if task == "emocontext" else "folds of the training data"
        if not values and (LARGE / f"{task}.json").is_file() and metadata.name == "large":
            values = json.loads((LARGE / f"{task}.json").read_text(encoding="utf-8"))["alone"]
        if values:
            spread = round(statistics.stdev(values), 4) if len(values) > 1 else None
            found = {"score": round(statistics.mean(values), 4), "spread": spread, "runs": len(values), "data": data}
            kept.setdefault(metadata.name, {})[task] = found
    MEASURED_HERE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _without_gpu() -> list[str]:
    """What `benchmarks/systems_cpu.py` found."""
    if not ON_CPU.is_file():
        return []
    lines = [
        "## Without a GPU",
        "",
        "Training time of the systems without a transformer on two CPU cores (`python benchmarks/systems_cpu.py`).",
        "Where shares of the data are below 1, the time for all follows from the times for these. Systems with a",
        "language model need smaller settings to stay within twenty minutes; the scores above are without them.",
        "",
        "| system | task | shares measured | seconds for all | settings |",
        "|---|---|---|---:|---|",
    ]
    for each in json.loads(ON_CPU.read_text(encoding="utf-8")):
        shares = ", ".join(
            f"{share:g}: {taken:,.0f} s" for share, taken in zip(each["shares"], each["seconds"], strict=True)
        )
        changed = ", ".join(f"{key}={value}" for key, value in each["settings"].items()) or "the defaults"
        lines.append(f"| {each['system']} | {each['task']} | {shares} | {each['whole']:,} | {changed} |")
    return [*lines, ""]


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
    changed = {f"{key}={value}" for result in mine for key, value in result["settings"].items()}
    changed |= {result["note"] for result in mine if "note" in result}
    cells = [metadata.name, *figures, str(len(scored)), f"{paper:.4f}" if paper else "-", training]
    cells += ["; ".join(metadata.substitutions) or "-", ", ".join(sorted(changed)) or "-"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "job", "render"])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EMOSCOPE_DATA", "data")))
    parser.add_argument("--encoder", default="")
    parser.add_argument("--systems", default="")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=FOLDS, help="do only the first of the five folds")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e6, help="start no job after this many minutes")
    parser.add_argument("--job", default="")
    parser.add_argument("--results", type=Path, default=RESULTS)
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
