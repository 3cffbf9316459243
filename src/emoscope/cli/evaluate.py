"""`emoscope verify`, `evaluate`, `compare`, `errors` and `human`: evaluate predictions."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from emoscope.api import task_and_file, task_and_path
from emoscope.cli.evaluation_tables import (
    print_agreement,
    print_comparison,
    print_errors,
    print_evaluation,
    print_humans,
    print_learnt,
    print_slices,
)
from emoscope.cli.options import DataOption, HtmlOption, SeedOption, TaskOption
from emoscope.cli.output import bars, console
from emoscope.cli.result import CommandResult
from emoscope.core.errors import EmoscopeError, InputError, did_you_mean
from emoscope.core.files import check_other_file
from emoscope.evaluation.agreement import by_agreement
from emoscope.evaluation.compare import Comparison, compare
from emoscope.evaluation.error_analysis import analyse_errors, slice_scores
from emoscope.evaluation.human import HUMAN_TASK, compare_with_humans, with_published
from emoscope.evaluation.provenance import learnt_of
from emoscope.evaluation.score import Evaluation, GoldSource, evaluate, read_gold, read_predictions
from emoscope.evaluation.slices import SLICES
from emoscope.tasks import get_task
from emoscope.tasks.data import Located

PredictionArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="Predictions: a submission, or one label per line.")
]
PredictionArguments = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Predictions: submissions, or one label per line.")
]
GoldOption = Annotated[Path | None, typer.Option("--gold", "-g", help="The labelled file.")]
SplitOption = Annotated[str | None, typer.Option("--split", help="Instead of a file: a split of the task's data.")]
_SLICES = "cue, length, emoji, negation, irony, long, dialect or code-mixed"  # emoscope.evaluation.slices, unimported
SamplesOption = Annotated[int, typer.Option("--samples", min=1, help="Number of bootstrap samples.")]


def verify_cli(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Predictions in the task's official format.")],
    task: TaskOption,
    against: Annotated[Path | None, typer.Option(help="The unlabelled file it answers.")] = None,
    split: SplitOption = None,
    data: DataOption = None,
) -> CommandResult:
    """Check a submission as the official scorer reads it; exit code 1 if it could not be scored.

    Labels that would be scored as wrong whatever the gold label is are warnings.
    """
    chosen, unlabelled = task_and_path(task, against, split, data, option="--against")
    if not file.exists():
        raise InputError(file, "no such file")
    found = chosen.check(file, unlabelled)
    value = {"task": chosen.name, "file": file, "accepted": not found.problems, **asdict(found)}
    warnings = [f"scored as wrong officially: {warning}" for warning in found.warnings]
    lines = [*(found.problems or [f"{file}: accepted"]), *warnings]
    return CommandResult(value, "\n".join(lines), failed=bool(found.problems))


def evaluate_cli(
    file: PredictionArgument,
    task: TaskOption,
    gold: GoldOption = None,
    split: SplitOption = None,
    by: Annotated[
        list[str] | None,
        typer.Option(help=f"Also score by agreement (of the annotators, per dialogue), {_SLICES}; repeatable."),
    ] = None,
    own_labels: Annotated[
        bool,
        typer.Option("--own-labels", help="Average over the task's own labels only, not over other predicted ones."),
    ] = False,
    samples: SamplesOption = 10_000,
    seed: SeedOption = 0,
    html: HtmlOption = None,
    data: DataOption = None,
) -> CommandResult:
    """Score predictions in the task's official way, with an interval and the rank among the published results."""
    chosen, reference = task_and_file(task, gold, split, data, option="--gold")
    _check_report(html, reference, [file])
    parts = dict.fromkeys(by or ())
    if unknown := [name for name in parts if name != "agreement" and name not in SLICES]:
        raise EmoscopeError(f"no slice named {unknown[0]!r}; {did_you_mean(unknown[0], [*SLICES, 'agreement'])}")
    slices = {name: SLICES[name] for name in parts if name != "agreement"}
    result = evaluate(chosen, reference, file, samples=samples, seed=seed, own_labels=own_labels)
    _write_report(result, html)
    if not parts:
        return CommandResult(result, partial(print_evaluation, result))
    read = read_gold(chosen, reference)
    labels = read_predictions(chosen, read, file)
    sliced = slice_scores(chosen, read, {file.stem: labels}, slices)
    related = by_agreement(chosen, read, labels, samples=samples, seed=seed) if "agreement" in parts else None

    def show() -> None:
        print_evaluation(result)
        print_slices(sliced, result.metric)
        if related is not None:
            print_agreement(related, result.metric)

    return CommandResult({**result.as_dict(), "by": sliced | ({"agreement": related} if related else {})}, show)


def compare_cli(
    files: PredictionArguments,
    task: TaskOption,
    gold: GoldOption = None,
    split: SplitOption = None,
    level: Annotated[float, typer.Option(help="Confidence at which a difference is significant.")] = 0.99,
    samples: SamplesOption = 10_000,
    seed: SeedOption = 0,
    html: HtmlOption = None,
    data: DataOption = None,
) -> CommandResult:
    """Compare any number of prediction files: which differ significantly, and which form a cluster."""
    chosen, reference = task_and_file(task, gold, split, data, option="--gold")
    _check_report(html, reference, files)
    with bars() as progress:
        advance = partial(progress.advance, progress.add_task("resampling", total=samples))
        result = compare(chosen, reference, files, level=level, samples=samples, seed=seed, advance=advance)
    _write_report(result, html)
    return CommandResult(result, partial(print_comparison, result))


def errors_cli(
    files: PredictionArguments,
    task: TaskOption,
    gold: GoldOption = None,
    split: SplitOption = None,
    by: Annotated[list[str] | None, typer.Option(help=f"Score by a slice of the data: {_SLICES}; repeatable.")] = None,
    show: Annotated[int, typer.Option(min=0, help="Examples of each kind and class to show.")] = 3,
    seed: SeedOption = 0,
    data: DataOption = None,
) -> CommandResult:
    """Show what all systems get right and what none does, and their scores on parts of the data."""
    chosen, reference = task_and_file(task, gold, split, data, option="--gold")
    _warn_of_learnt(files)
    result = analyse_errors(chosen, reference, files, by=by or (), show=show, seed=seed)
    return CommandResult(result, partial(print_errors, result))


def human_cli(
    task: Annotated[
        str | None, typer.Option("--task", "-t", help="Task name, or the folder of a corpus; needed for a file.")
    ] = None,
    judgements: Annotated[
        Path | None,
        typer.Argument(metavar="CSV", help="Judgements: a CSV with task,worker,label, optionally other."),
    ] = None,
    gold: GoldOption = None,
    split: SplitOption = None,
    systems: Annotated[
        list[Path] | None, typer.Option("--system", "-s", help="Predictions to compare with the people; repeatable.")
    ] = None,
    by: Annotated[str | None, typer.Option(help=f"Score by a slice of the data: {_SLICES}.")] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Also show the human judgements of the task's paper.")
    ] = False,
    data: DataOption = None,
) -> CommandResult:
    """Score human judgements like a system's answers, and systems on the same items."""
    if judgements is None:
        if not published:
            raise EmoscopeError("name a file of judgements, or give --published for those of the task's paper")
        result = with_published(get_task(task or HUMAN_TASK))
    elif task is None:
        raise EmoscopeError("--task: name the task that was judged, or the folder of a corpus")
    else:
        chosen, reference = task_and_file(task, gold, split, data, option="--gold")
        _warn_of_learnt(systems or ())
        # The cue word is what the IEST paper splits its human study by.
        parts = by or ("cue" if chosen.name == "iest" else None)
        result = compare_with_humans(chosen, reference, judgements, systems or (), by=parts)
        if published:
            result = with_published(chosen, result)
    return CommandResult(result, partial(print_humans, result))


def _warn_of_learnt(files: Sequence[Path]) -> None:
    for file in files:
        print_learnt(file, learnt_of(file))


def _check_report(html: Path | None, gold: GoldSource, files: Sequence[Path]) -> None:
    """Raise an error before anything is scored if the report would overwrite what it is about."""
    if html is not None:
        check_other_file(html, gold.path if isinstance(gold, Located) else gold, *files)


def _write_report(result: Evaluation | Comparison, path: Path | None) -> None:
    if path is not None:
        from emoscope.evaluation.report import write_report

        write_report(result, path)
        console(stderr=True).print(f"report: {escape(str(path))}")
