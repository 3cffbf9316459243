"""Evaluations, comparisons, error analyses and human studies as a person reads them."""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from rich.markup import escape

from emoscope.cli.output import coloured, console, table

if TYPE_CHECKING:
    from emoscope.evaluation.compare import Comparison
    from emoscope.evaluation.error_analysis import AnalysedItem, ErrorAnalysis
    from emoscope.evaluation.human import HumanComparison
    from emoscope.evaluation.score import Evaluation

_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        console(stderr=True).print(f"[yellow]note:[/] {_plain(note)}")


def print_evaluation(result: "Evaluation") -> None:
    """The score, its interval and rank, the figures of each class, and the confusion matrix."""
    out = console()
    _print_notes(result.notes)
    out.print(f"[bold]{result.score:.4f}[/]  {result.metric_description}")
    out.print(
        f"{result.interval.level * 100:g} % interval {result.interval.low:.4f} to {result.interval.high:.4f} "
        f"(bootstrap, {result.interval.samples:,} samples, seed {result.seed}); {result.scores.items:,} items"
    )
    if result.rank is not None:
        out.print(escape(result.rank.sentence))
        if result.rank.caveat:
            out.print(f"[yellow]{escape(result.rank.caveat)}[/]")
    rows: list[Sequence[object]] = [
        (coloured(_plain(label)), scores.precision, scores.recall, scores.f1, scores.support)
        for label, scores in result.per_class.items()
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
    """Text from a file, safe to print: no markup and no control characters."""
    return escape(text.translate(_CONTROLS))


def _p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "<0.0001"


def print_comparison(result: "Comparison") -> None:
    """The table of systems, with a line wherever a significance cluster ends."""
    from rich.box import Box

    out = console()
    _print_notes(result.notes)
    rows: list[Sequence[object]] = []
    for row in result.rows:
        interval, pair = f"{row.interval.low:.4f} to {row.interval.high:.4f}", row.to_next
        tests = (pair.difference, _p_value(pair.p_bootstrap), _p_value(pair.p_wilcoxon)) if pair else (None,) * 3
        rows.append((row.number, _plain(row.name), row.scores.score, interval, row.first_different, *tests))
    columns = ["row", "system", result.metric, "95 % interval", "B", "above next by", "p bootstrap", "p Wilcoxon"]
    systems = table(None, columns, rows, left=2)
    # Lines between clusters only: a box whose sole visible part is the line under a section.
    systems.box = Box("    \n    \n    \n    \n ── \n    \n    \n    \n")
    systems.show_edge = False
    for above, below in pairwise(result.rows):
        systems.rows[above.number - 1].end_section = below.cluster != above.cluster
    out.print(f"[bold]{result.task}, differences at {result.level:g}[/]")
    out.print(systems)
    out.print(f"[dim]{result.how} {result.samples:,} samples, seed {result.seed}.[/]")


def print_errors(result: "ErrorAnalysis") -> None:
    """What all systems get right and what none does, with examples, and the scores by slice."""
    out = console()
    rows: list[Sequence[object]] = []
    for label, errors in result.classes.items():
        parts = ((part, _share(part, errors.items)) for part in (errors.all_right, errors.none_right))
        rows.append((coloured(label), errors.items, *chain.from_iterable(parts)))
    count = len(result.systems)
    title = f"{result.task}, {count} system{'s' if count > 1 else ''}: items all get right, items none does"
    _show(title, ["gold", "items", "all right", "%", "none right", "%"], rows)
    for label, errors in result.classes.items():
        for mark, items in (("+", errors.easy), ("-", errors.hard)):
            for item in items:
                out.print(f"{coloured(label)} [bold]{mark}[/] {_shown(item, mark)}", soft_wrap=True)
    for name, part in result.slices.items():
        cells: list[Sequence[object]] = [
            (_plain(group), _plain(system), scores.items, scores.accuracy, scores.macro_f1, scores.score)
            for group, systems in part.groups.items()
            for system, scores in systems.items()
        ]
        out.print()
        columns = [name, "system", "items", "accuracy", "macro-F1", f"official {result.metric}"]
        _show(f"By {name}: {part.description}", columns, cells, left=2)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _shown(item: "AnalysedItem", mark: str) -> str:
    text = _plain(" / ".join(item.turns))
    answers = ", ".join(f"{_plain(label)} {count}" for label, count in item.answers.items())
    wrong = "" if mark == "+" else f" [dim]({answers})[/]"
    return f"[dim]{item.position}[/] {text}{wrong}"


def print_humans(result: "HumanComparison") -> None:
    """People and systems side by side, overall and by slice."""
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
        (_plain(judge.name), scores.items, scores.macro_f1, scores.micro_f1, scores.score, scores.top2)
        for judge in result.judges
        for scores in [judge.overall]
    ]
    _show(result.task, columns, rows)
    parts: list[Sequence[object]] = [
        (_plain(group), _plain(judge.name), scores.items, scores.accuracy, scores.macro_f1, scores.top2)
        for group in dict.fromkeys(group for judge in result.judges for group in judge.groups)
        for judge in result.judges
        for scores in ([judge.groups[group]] if group in judge.groups else [])
    ]
    if parts:
        out.print()
        _show(f"By {result.by}", [str(result.by), "", "answers", "accuracy", "macro-F1", "top 2"], parts, left=2)
