"""`emoscope verify`, `evaluate`, `compare`, `errors` and `human`: what predictions are worth."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.options import DataOption, HtmlOption, SeedOption, TaskOption
from emoscope.cli.output import JsonOption, coloured, console, print_json, table
from emoscope.core.errors import EmoscopeError, InputError

if TYPE_CHECKING:
    from emoscope.evaluation.compare import Comparison
    from emoscope.evaluation.error_analysis import ErrorAnalysis, Item
    from emoscope.evaluation.human import HumanComparison
    from emoscope.evaluation.score import Evaluation
    from emoscope.tasks import Task
    from emoscope.tasks.data import Located

PredictionArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="Predictions: a submission, or a label a line.")
]
PredictionArguments = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Predictions: submissions, or files of a label a line.")
]
GoldOption = Annotated[Path | None, typer.Option("--gold", "-g", help="The labelled file.")]
SplitOption = Annotated[str | None, typer.Option("--split", help="Instead of a file: a split of the task's data.")]
SamplesOption = Annotated[int, typer.Option("--samples", min=1, help="Number of bootstrap samples.")]

_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command("verify")(verify_cli)
    app.command("evaluate")(evaluate_cli)
    app.command("compare")(compare_cli)
    app.command("errors")(errors_cli)
    app.command("human")(human_cli)


def verify_cli(
    file: PredictionArgument,
    task: TaskOption,
    against: Annotated[Path | None, typer.Option("--against", help="The unlabelled file it answers.")] = None,
    split: SplitOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a submission as the organisers would; exit code 1 if it would be refused."""
    from emoscope.tasks import get_task

    chosen = get_task(task)
    unlabelled = _reference(chosen, "--against", against, split, data)
    if not file.exists():
        raise InputError(file, "no such file")
    path = unlabelled if isinstance(unlabelled, Path) else unlabelled.path
    problems = chosen.verify(file, path)
    if as_json:
        print_json({"task": chosen.name, "file": str(file), "accepted": not problems, "problems": problems})
    else:
        for line in problems or [f"{file}: accepted"]:
            typer.echo(line)
    if problems:
        raise typer.Exit(1)


def evaluate_cli(
    file: PredictionArgument,
    task: TaskOption,
    gold: GoldOption = None,
    split: SplitOption = None,
    samples: SamplesOption = 10_000,
    seed: SeedOption = 0,
    html: HtmlOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score predictions in the task's official way, with an interval and the rank among the published results."""
    from emoscope.evaluation.score import evaluate
    from emoscope.tasks import get_task

    chosen = get_task(task)
    result = evaluate(chosen, _reference(chosen, "--gold", gold, split, data), file, samples=samples, seed=seed)
    _report(result, html)
    if as_json:
        print_json(result.as_dict())
    else:
        _print_evaluation(result)


def compare_cli(
    files: PredictionArguments,
    task: TaskOption,
    gold: GoldOption = None,
    split: SplitOption = None,
    level: Annotated[float, typer.Option("--level", help="Confidence at which a difference is significant.")] = 0.99,
    samples: SamplesOption = 10_000,
    seed: SeedOption = 0,
    html: HtmlOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare any number of prediction files: which differ significantly, and which form a cluster."""
    from rich.progress import Progress

    from emoscope.evaluation.compare import compare
    from emoscope.tasks import get_task

    chosen = get_task(task)
    reference = _reference(chosen, "--gold", gold, split, data)
    screen = console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bar = progress.add_task("resampling", total=samples)
        result = compare(
            chosen,
            reference,
            files,
            level=level,
            samples=samples,
            seed=seed,
            advance=lambda done: progress.advance(bar, done),
        )
    _report(result, html)
    if as_json:
        print_json(result.as_dict())
    else:
        _print_comparison(result)


def errors_cli(
    files: PredictionArguments,
    task: TaskOption,
    gold: GoldOption = None,
    split: SplitOption = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", help="Score by a part of the data: cue, length or emoji; repeatable.")
    ] = None,
    show: Annotated[int, typer.Option("--show", min=0, help="Examples of each kind and class to show.")] = 3,
    seed: SeedOption = 0,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what every system gets right and what none does, and how they fare on parts of the data."""
    from emoscope.evaluation.error_analysis import analyse_errors
    from emoscope.tasks import get_task

    chosen = get_task(task)
    reference = _reference(chosen, "--gold", gold, split, data)
    result = analyse_errors(chosen, reference, files, by=by or (), show=show, seed=seed)
    if as_json:
        print_json(result.as_dict())
    else:
        _print_errors(result)


def human_cli(
    task: TaskOption,
    judgements: Annotated[
        Path | None, typer.Argument(metavar="[CSV]", help="Judgements with the columns task,worker,label[,other].")
    ] = None,
    gold: GoldOption = None,
    split: SplitOption = None,
    systems: Annotated[
        list[Path] | None, typer.Option("--system", "-s", help="Predictions to set beside the people; repeatable.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Score by a part of the data: cue, length or emoji.")] = None,
    published: Annotated[bool, typer.Option("--published", help="Show the people of the task's paper too.")] = False,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score human judgements as if they were a system's answers, beside systems on the same items."""
    from emoscope.evaluation.human import compare_with_humans, only_published, with_published
    from emoscope.tasks import get_task

    chosen = get_task(task)
    if judgements is None:
        if not published:
            raise EmoscopeError("name a file of judgements, or give --published for those of the task's paper")
        result = only_published(chosen)
    else:
        reference = _reference(chosen, "--gold", gold, split, data)
        # The cue word is what the IEST paper splits its human study by.
        parts = by or ("cue" if chosen.name == "iest" else None)
        result = compare_with_humans(chosen, reference, judgements, systems or (), by=parts)
        if published:
            result = with_published(chosen, result)
    if as_json:
        print_json(result.as_dict())
    else:
        _print_humans(result)


def _reference(task: "Task", option: str, path: Path | None, split: str | None, data: Path | None) -> "Path | Located":
    """The file to hold predictions to: the one given, or a split of the task's data."""
    from emoscope.tasks.data import find_split

    if (path is None) == (split is None):
        raise EmoscopeError(f"give either {option} FILE or --split NAME")
    return path if path is not None else find_split(task, str(split), data)


def _report(result: "Evaluation | Comparison", path: Path | None) -> None:
    if path is not None:
        from emoscope.evaluation.report import write_report

        write_report(result, path)
        console(stderr=True).print(f"report: {escape(str(path))}")


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        console(stderr=True).print(f"[yellow]note:[/] {_plain(note)}")


def _print_evaluation(result: "Evaluation") -> None:
    out = console()
    _print_notes(result.notes)
    low, high = result.interval.low, result.interval.high
    out.print(f"[bold]{result.score:.4f}[/]  {result.metric_description}")
    out.print(
        f"{result.interval.level * 100:g} % interval {low:.4f} to {high:.4f} "
        f"(bootstrap, {result.interval.samples:,} samples, seed {result.seed}); {result.scores.items:,} items"
    )
    if result.rank is not None:
        out.print(escape(result.rank.sentence))
        if result.rank.caveat:
            out.print(f"[yellow]{escape(result.rank.caveat)}[/]")
    rows: list[Sequence[object]] = [
        (coloured(_plain(label)), one.precision, one.recall, one.f1, one.support)
        for label, one in result.per_class.items()
    ]
    out.print()
    _show("Per class", ["label", "precision", "recall", "F1", "gold items"], rows)
    scores = result.scores
    out.print(
        f"accuracy {scores.accuracy:.4f}, micro-F1 {scores.micro_f1:.4f} over all labels, "
        f"macro-F1 {scores.macro_f1:.4f} over those that occur"
    )
    out.print()
    counts: list[Sequence[object]] = [
        (coloured(_plain(label)), *row) for label, row in zip(result.labels, result.confusion.tolist(), strict=True)
    ]
    names = [_plain(label) for label in result.labels]
    _show("Confusion (gold in rows, predicted in columns)", ["", *names], counts)


def _show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, left: int = 1) -> None:
    # A table's own title would be broken at the width of the table.
    console().print(f"[bold]{escape(title)}[/]")
    console().print(table(None, columns, rows, left=left))


def _plain(text: str) -> str:
    """Text from a file as it may be shown: no markup, and no control characters for the terminal to obey."""
    return escape(text.translate(_CONTROLS))


def _p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "<0.0001"


def _print_comparison(result: "Comparison") -> None:
    from rich.box import Box

    from emoscope.evaluation.compare import HOW

    out = console()
    _print_notes(result.notes)
    rows: list[Sequence[object]] = []
    for row in result.rows:
        pair = row.to_next
        rows.append(
            (
                row.number,
                _plain(row.name),
                row.scores.official,
                f"{row.interval.low:.4f} to {row.interval.high:.4f}",
                row.first_different,
                None if pair is None else pair.difference,
                None if pair is None else _p_value(pair.p_bootstrap),
                None if pair is None else _p_value(pair.p_wilcoxon),
            )
        )
    columns = ["row", "system", result.metric, "95 % interval", "B", "above next by", "p bootstrap", "p Wilcoxon"]
    made = table(None, columns, rows, left=2)
    # Lines between clusters only: a box whose sole visible part is the line under a section.
    made.box = Box("    \n    \n    \n    \n ── \n    \n    \n    \n")
    made.show_edge = False
    for above, below in pairwise(result.rows):
        made.rows[above.number - 1].end_section = below.cluster != above.cluster
    out.print(f"[bold]{result.task}, differences at {result.level:g}[/]")
    out.print(made)
    out.print(f"[dim]{HOW} {result.samples:,} samples, seed {result.seed}.[/]")


def _print_errors(result: "ErrorAnalysis") -> None:
    out = console()
    rows: list[Sequence[object]] = [
        (
            coloured(label),
            one.items,
            one.all_right,
            _share(one.all_right, one.items),
            one.none_right,
            _share(one.none_right, one.items),
        )
        for label, one in result.classes.items()
    ]
    count = len(result.systems)
    title = f"{result.task}, {count} system{'s' if count > 1 else ''}: items all get right, items none does"
    _show(title, ["gold", "items", "all right", "%", "none right", "%"], rows)
    for label, one in result.classes.items():
        for mark, items in (("+", one.easy), ("-", one.hard)):
            for item in items:
                out.print(f"{coloured(label)} [bold]{mark}[/] {_shown(item, mark)}", soft_wrap=True)
    for name, part in result.slices.items():
        cells: list[Sequence[object]] = [
            (_plain(group), _plain(system), scores.items, scores.accuracy, scores.macro_f1, scores.official)
            for group, systems in part.groups.items()
            for system, scores in systems.items()
        ]
        out.print()
        columns = [name, "system", "items", "accuracy", "macro-F1", f"official {result.metric}"]
        _show(f"By {name}: {part.description}", columns, cells, left=2)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _shown(item: "Item", mark: str) -> str:
    text = _plain(" / ".join(item.turns))
    wrong = "" if mark == "+" else f" [dim]({_listed(item.answers)})[/]"
    return f"[dim]{item.position}[/] {text}{wrong}"


def _listed(answers: Mapping[str, int]) -> str:
    return ", ".join(f"{_plain(label)} {count}" for label, count in answers.items())


def _print_humans(result: "HumanComparison") -> None:
    out = console()
    if result.judgements:
        out.print(
            f"{result.judgements:,} judgements of {result.items:,} items by {result.workers:,} workers, "
            f"matched by {result.matched_by}"
        )
    if result.discarded:
        _print_notes([f"{result.discarded:,} judgements are left out, as the task does not score their items"])
    columns = ["", "answers", "macro-F1", "micro-F1", f"official {result.metric}", "top 2"]
    rows: list[Sequence[object]] = [
        (_plain(judge.name), one.scores.items, one.scores.macro_f1, one.scores.micro_f1, one.scores.official, one.top2)
        for judge in result.judges
        for one in [judge.overall]
    ]
    _show(result.task, columns, rows)
    parts: list[Sequence[object]] = [
        (_plain(group), _plain(judge.name), one.scores.items, one.scores.accuracy, one.scores.macro_f1, one.top2)
        for group in dict.fromkeys(group for judge in result.judges for group in judge.groups)
        for judge in result.judges
        for one in ([judge.groups[group]] if group in judge.groups else [])
    ]
    if parts:
        out.print()
        _show(f"By {result.by}", [str(result.by), "", "answers", "accuracy", "macro-F1", "top 2"], parts, left=2)
