"""`emoscope train`, `emoscope crossvalidate` and `emoscope predict`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Group
from rich.markup import escape

from emoscope.api import task_and_path
from emoscope.cli.completion import complete_model
from emoscope.cli.evaluation_tables import print_learnt
from emoscope.cli.options import (
    DataOption,
    DeviceOption,
    SeedOption,
    SettingsOption,
    SystemArgument,
    TaskOption,
    chosen_settings,
)
from emoscope.cli.output import console, progress_bar, table
from emoscope.cli.result import CommandResult
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import check_other_file
from emoscope.evaluation.provenance import write_provenance
from emoscope.tables import PIPE
from emoscope.tasks import get_task

WorkersOption = Annotated[
    int, typer.Option("--workers", min=1, help="Members of an ensemble to train at once, each in its own process.")
]


def train_cli(
    system: SystemArgument,
    task: TaskOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the run.")],
    seed: SeedOption = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Learn from the first N examples only.")] = None,
    splits: Annotated[
        str | None,
        typer.Option(help="Splits to learn from, e.g. train,dev; by default the ones the system was designed for."),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: --set epochs=5; repeatable.")
    ] = None,
    device: DeviceOption = "auto",
    workers: WorkersOption = 1,
    devices: Annotated[
        int,
        typer.Option(min=1, help="GPUs, or processes on a CPU, that train each network together."),
    ] = 1,
    resumable: Annotated[
        bool, typer.Option("--resumable/--not-resumable", help="Keep checkpoints, to resume after an interruption.")
    ] = True,
    data: DataOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run.")] = False,
) -> CommandResult:
    """Train a system on a task's data and save it to a folder."""
    from emoscope.runs.train import train

    with progress_bar(f"training {system} on {task}") as report:
        record = train(
            system,
            task,
            output,
            seed=seed,
            limit=limit,
            splits=tuple(splits.split(",")) if splits else None,
            settings=chosen_settings(settings),
            device=device,
            workers=workers,
            devices=devices,
            resumable=resumable,
            root=data,
            force=force,
            report=report,
        )
    about = f"{system} learnt {task} from {record.examples:,} examples in {record.seconds:,.1f} s: {output}"
    lines = [escape(about)]
    for where, score in (("dev", record.dev), ("held-out folds", record.held_out)):
        if score is not None:
            lines.append(f"{score['metric']} on {where}: [bold]{score['score']:.4f}[/]")
    return CommandResult(record, [Group(*lines)])


def crossvalidate_cli(
    system: SystemArgument,
    task: TaskOption,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds; no dialogue is split between two.")] = 5,
    splits: Annotated[str | None, typer.Option(help="Splits to cross-validate on, e.g. train,dev.")] = None,
    seed: SeedOption = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Number of seeds, counted up from --seed.")] = 1,
    settings: SettingsOption = None,
    device: DeviceOption = "auto",
    workers: Annotated[
        int, typer.Option(min=1, help="Folds to train at once; spare workers train members of ensembles.")
    ] = 1,
    data: DataOption = None,
) -> CommandResult:
    """Score a system on folds of a task's labelled data: for tasks without a development set."""
    from emoscope.runs.crossvalidate import crossvalidate

    with console(stderr=True).status(escape(f"cross-validating {system} on {task}")):
        results = crossvalidate(
            system,
            task,
            folds=folds,
            splits=tuple(splits.split(",")) if splits else None,
            seeds=range(seed, seed + seeds),
            settings=chosen_settings(settings),
            device=device,
            workers=workers,
            root=data,
        )
    if results[0].learnt:
        note = f"{results[0].learnt:,} held-out items were learnt anyway: the data or other corpora repeat them"
        console(stderr=True).print(f"[yellow]note:[/] {note}")
    rows = [
        (f"fold {number}", *scores) for number, scores in enumerate(zip(*(r.scores for r in results), strict=True), 1)
    ]
    rows += [
        ("mean", *(result.mean for result in results)),
        ("standard deviation", *(result.deviation for result in results)),
        ("all folds together", *(result.pooled for result in results)),
    ]
    heads = ["", "score"] if seeds == 1 else ["", *(f"seed {number}" for number in range(seed, seed + seeds))]
    shown = table(f"{system} on {task}, {results[0].metric}", heads, rows)
    return CommandResult(results[0] if seeds == 1 else results, [shown])


def predict_cli(
    run: Annotated[
        str,
        typer.Argument(
            help="A run's folder, or an embedded model: default, open, nano.", autocompletion=complete_model
        ),
    ],
    task: TaskOption,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; `-` for standard output.")],
    input: Annotated[Path | None, typer.Option("--input", "-i", help="An official file of the task.")] = None,
    split: Annotated[str | None, typer.Option(help="Instead of --input: a split of the task's data.")] = None,
    format: Annotated[
        str, typer.Option(help="`official`, or `labels`: one label per line, in the order of the input.")
    ] = "official",
    name: Annotated[str, typer.Option(help="Author's name, for formats that require it.")] = "",
    email: Annotated[str, typer.Option(help="Author's e-mail, for formats that require it.")] = "",
    data: DataOption = None,
) -> CommandResult:
    """Write predictions in the task's official submission format."""
    from emoscope.detector.bundle import resolve
    from emoscope.runs.predict import learnt_overlap, predictor

    if format not in ("official", "labels"):
        raise EmoscopeError(f"--format: expected official or labels, found {format!r}")
    chosen, folder = get_task(task), resolve(run)
    predict = predictor(folder, chosen)
    _, source = task_and_path(task, input, split, data, option="--input")
    if output != PIPE:
        check_other_file(output, source)
    with console(stderr=True).status(escape(f"reading {source}")):
        examples = list(chosen.read(source))
    with console(stderr=True).status(f"labelling {len(examples):,} examples"):
        labels = predict(examples)
    learnt = learnt_overlap(folder, chosen, examples)
    with TemporaryDirectory() as scratch:
        written = Path(scratch, "standard output") if output == PIPE else Path(output)
        if format == "labels":
            chosen.write_labels(written, labels)
        else:
            chosen.write_submission(written, examples, labels, {"name": name, "email": email})
        if output == PIPE:
            sys.stdout.buffer.write(written.read_bytes())
        else:
            write_provenance(written, run, learnt)
    print_learnt(written, learnt)
    value = {"task": chosen.name, "model": run, "labels": len(labels), "output": output, "learnt": learnt}
    text = f"{len(labels):,} labels written to "
    if output == PIPE:
        return CommandResult(None, text + written.name, stderr=True)
    return CommandResult(value, text + output, stderr=True)
