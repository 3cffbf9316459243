"""Train a system on a task and save it with its development score."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.files import write_file
from emoscope.core.fit_context import FitContext, no_progress
from emoscope.core.learnt import LearntItems
from emoscope.core.metrics import confusion_matrix
from emoscope.evaluation.score import evaluate_labels, label_names
from emoscope.runs.record import FILE, RunRecord, environment, kept_checkpoints, new_run_folder
from emoscope.systems import SYSTEMS
from emoscope.systems.base import System
from emoscope.tasks import Task, get_task
from emoscope.tasks.data import data_root, find_split, sha256_of


def official_score(task: Task, examples: Sequence[Example], predicted: Sequence[str]) -> float:
    """Score predictions for labelled examples with the official metric.

    >>> from emoscope.core.dialogue import Dialogue
    >>> items = [Example(Dialogue.of(["a"]), 0, "happy"), Example(Dialogue.of(["b"]), 0, "others")]
    >>> official_score(get_task("emocontext"), items, ["happy", "happy"])
    0.6666666666666666
    """
    pairs = [(str(e.label), p) for e, p in zip(examples, predicted, strict=True) if e.label and task.scored(e.label)]
    if not pairs:
        raise EmoscopeError(f"none of the {len(examples):,} examples has a label that {task.name} scores")
    gold, answers = zip(*pairs, strict=True)
    names = label_names(task, answers)
    return float(task.metric(confusion_matrix(gold, answers, names), names))


def train(
    system_name: str,
    task_name: str,
    folder: str | Path,
    *,
    seed: int = 0,
    limit: int | None = None,
    splits: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    device: str = "auto",
    workers: int = 1,
    devices: int = 1,
    resumable: bool = True,
    root: Path | None = None,
    force: bool = False,
    report: Callable[[str, float], None] | None = None,
) -> RunRecord:
    """Fit a system on splits of a task and write the run to a folder atomically.

    Checkpoints are kept beside the folder, and the same call resumes from them after an interruption; turn `resumable`
    off if writing them costs more than it saves. Trains `workers` members of an ensemble in parallel, or each network
    on `devices` devices.

    >>> train("nano", "emocontext", Path("runs/nano")).dev  # doctest: +SKIP
    {'metric': 'micro-f1', 'score': 0.7125, 'file': 'dev.txt'}
    """
    folder, task = Path(folder), get_task(task_name)
    system = SYSTEMS[system_name](task, seed=seed, settings=settings)
    if devices > 1:
        _check_devices(system, device, devices, workers)
    located = {split: find_split(task, split, root) for split in splits or (system.metadata.learns_from,)}
    what = {
        "system": system_name,
        "task": task.reference,
        "seed": seed,
        "limit": limit,
        "settings": dict(settings or {}),
        "data": {place.path.name: sha256_of(place.path) for place in located.values()},
    }
    with new_run_folder(folder, force=force) as part, kept_checkpoints(folder, what) as checkpoints:
        pairs = [(split, example) for split, place in located.items() for example in task.read(place.path)][:limit]
        examples = [example for _, example in pairs]
        fit_context = FitContext(
            seed=seed,
            device=device,
            checkpoints=checkpoints if resumable else None,
            resources=data_root(root),
            workers=workers,
            devices=devices,
            progress=report or no_progress,
        )
        start = time.perf_counter()
        system.fit(examples, fit_context)
        seconds = time.perf_counter() - start
        own = {f"{task.name}/{split}": [e for of, e in pairs if of == split] for split in located}
        learnt = learnt_items(system, own, fit_context)
        record = RunRecord(
            **{**what, "settings": system.settings.model_dump(mode="json")},
            examples=len(examples),
            data_revision=next(iter(located.values())).revision.name,
            seconds=round(seconds, 2),
            devices=devices,
            dev=_dev_report(task, system, learnt, root, part),
            held_out=_held_out_report(task, system, examples),
            **environment(),
        )
        system.model().save(part)
        learnt.save(part)
        write_file(part / FILE, record.model_dump_json(indent=2) + "\n")
        if system.metadata.networks:
            draw_curves(part)
    return record


def learnt_items(system: System, own: Mapping[str, Sequence[Example]], fit_context: FitContext) -> LearntItems:
    """The items a fitted system learnt: the labelled items of its own data and of its auxiliary corpora."""
    labelled = {name: [e for e in examples if e.label in system.task.labels] for name, examples in own.items()}
    return LearntItems.of({**labelled, **system.auxiliary(fit_context)})


def _check_devices(system: System, device: str, devices: int, workers: int) -> None:
    if not system.metadata.networks:
        raise EmoscopeError(f"{system.metadata.name} trains no neural network, so it cannot use --devices {devices}")
    if workers > 1:
        raise EmoscopeError(
            f"--devices {devices} and --workers {workers} would share the same devices; give one of them"
        )
    check_installed("torch", extra="train")
    from emoscope.models.torch.launch import check_devices

    check_devices(device, devices)


def _dev_report(
    task: Task, system: System, learnt: LearntItems, root: Path | None, folder: Path
) -> dict[str, float | str] | None:
    """The official score on the development split; None if there is none or the system learnt it.

    The full evaluation is written to the run's folder as `dev.json`.
    """
    if "dev" not in task.metadata.splits:
        return None
    try:
        dev = find_split(task, "dev", root)
    except EmoscopeError:
        return None
    examples = list(task.read(dev.path))
    if f"{task.name}/dev" in learnt.sources or learnt.overlap(examples).is_learnt:
        return None
    gold = [str(example.label) for example in examples]
    report = evaluate_labels(task, gold, system.predict(examples), ranked=False)  # published scores are on test sets
    write_file(folder / "dev.json", json.dumps(report.as_dict(), indent=2))
    return {"metric": task.metadata.metric.name, "score": round(report.score, 6), "file": dev.path.name}


def _held_out_report(task: Task, system: System, examples: Sequence[Example]) -> dict[str, float | str] | None:
    """The official score on held-out folds of the training data, if the system keeps predictions for them."""
    labels = system.held_out_labels()
    if labels is None:
        return None
    learnt_from = system.select(examples)
    score = official_score(task, learnt_from, labels)
    return {"metric": task.metadata.metric.name, "score": round(score, 6), "examples": len(learnt_from)}


def draw_curves(folder: Path) -> Path | None:
    """Plot each network's loss by epoch as `curve.svg`, if the run trained any.

    Without the extra `plots` nothing is drawn; the numbers are in each network's `curve.json`.
    """
    points = [
        {"network": str(path.parent.relative_to(folder)), "epoch": epoch["epoch"], "loss": loss, "data": data}
        for path in sorted(folder.rglob("curve.json"))
        for epoch in json.loads(path.read_text(encoding="utf-8"))
        for data, loss in (("training", epoch["loss"]), ("held out", epoch["held_out"]))
        if loss is not None
    ]
    if not points or find_spec("altair") is None or find_spec("vl_convert") is None:
        return None
    from emoscope.core.plots import altair, rows, save, titled

    alt = altair()
    lines = alt.Chart(rows(points)).mark_line(point=True)
    chart = lines.encode(x="epoch:O", y="loss:Q", color="network:N", strokeDash="data:N").properties(
        width=480, height=280
    )
    return save(titled(chart, "Training curve", "Mean loss of each epoch"), folder / "curve.svg")
