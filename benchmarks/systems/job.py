"""One training run of a system: its scores and, on all of the training data, its blind predictions."""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.provenance import keep, made
from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.runs.train import official_score
from emoscope.systems import SYSTEMS, System
from emoscope.tasks import Task, get_task
from emoscope.tasks.data import find_split, read_split

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


def do_job(name: str, task_name: str, part: str, options: argparse.Namespace) -> None:
    """One training run: its scores and, for the first run on all data, blind predictions."""
    task = get_task(task_name)
    number = int(part.removeprefix("seed").removeprefix("fold") or 0) if part != "blind" else 0
    seed = number if part.startswith("seed") else 0
    settings = dict(MEASURED.get(name, {}))
    if options.encoder and "encoder" in SYSTEMS[name].settings_class.model_fields:
        settings["encoder"] = options.encoder
    if options.precision != "auto":
        settings["precision"] = options.precision
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
    result["settings"] = {
        key: Path(value).name if key.endswith("encoder") else value for key, value in settings.items()
    }
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
