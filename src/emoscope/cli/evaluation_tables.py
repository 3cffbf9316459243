"""Evaluations, comparisons, error analyses and human studies as tables."""

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from rich.markup import escape

from emoscope.cli.output import Rows, coloured, console, table
from emoscope.cli.turns import CONTROLS
from emoscope.core.learnt import Overlap
from emoscope.evaluation.agreement import AgreementRelation
from emoscope.evaluation.compare import Comparison
from emoscope.evaluation.error_analysis import ErrorAnalysis, SliceScores
from emoscope.evaluation.human import HumanComparison
from emoscope.evaluation.provenance import learnt_note
from emoscope.evaluation.score import Evaluation, shown_label

if TYPE_CHECKING:
    from pathlib import Path


def _print_notes(notes: Sequence[str], *, warnings: int = 0) -> None:
    """Print notes; the first `warnings` of them are warnings."""
    for number, note in enumerate(notes):
        mark = "[bold red]warning:[/]" if number < warnings else "[yellow]note:[/]"
        console(stderr=True).print(f"{mark} {_plain(note)}")


def print_learnt(path: "Path", learnt: Overlap | None) -> None:
    """Warn if a model had learnt the items of a file of predictions."""
    if learnt is not None and learnt.is_learnt:
        _print_notes([f"{path.name}: {learnt_note(learnt)}"], warnings=1)


def print_evaluation(result: Evaluation) -> None:
    """The score, its interval and rank, the figures of each class, and the confusion matrix."""
    out = console()
    _print_notes(result.notes, warnings=int(result.is_learnt))
    learnt = "  [bold red]of what the model learnt, so no rank[/]" if result.is_learnt else ""
    out.print(f"[bold]{result.score:.4f}[/]  {result.metric_description}{learnt}")
    out.print(
        f"{result.interval.level * 100:g} % interval {result.interval.low:.4f} to {result.interval.high:.4f} "
        f"(bootstrap, {result.interval.samples:,} samples, seed {result.seed}); {result.scores.items:,} items"
    )
    if result.no_rank is not None:
        out.print(f"[yellow]{escape(result.no_rank)}[/]", soft_wrap=True)
    if result.rank is not None:
        out.print(escape(result.rank.sentence))
        if result.rank.caveat:
            out.print(f"[yellow]{escape(result.rank.caveat)}[/]")
    rows = [
        (coloured(_plain(shown_label(label))), scores.precision, scores.recall, scores.f1, scores.support)
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
    names = [_plain(shown_label(label)) for label in result.labels]
    counts = ((coloured(name), *row) for name, row in zip(names, result.confusion.tolist(), strict=True))
    _show("Confusion (gold in rows, predicted in columns)", ["", *names], counts)


def _show(title: str, columns: Sequence[str], rows: Rows, *, left: int = 1) -> None:
    console().print(table(title, columns, rows, left=left))


def _plain(text: str) -> str:
    """Text from a file, safe to print: no markup and no control characters."""
    return escape(text.translate(CONTROLS))


def _p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "<0.0001"


def print_comparison(result: Comparison) -> None:
    """The table of systems, with a line wherever a significance cluster ends."""
    from rich.box import Box

    out = console()
    _print_notes(result.notes, warnings=sum(row.is_learnt for row in result.rows))
    rows: list[Sequence[object]] = []
    for row in result.rows:
        interval, pair = f"{row.interval.low:.4f} to {row.interval.high:.4f}", row.to_next
        tests = (pair.difference, _p_value(pair.p_bootstrap), _p_value(pair.p_wilcoxon)) if pair else (None,) * 3
        rows.append((row.number, _plain(row.title), row.scores.score, interval, row.first_different, *tests))
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


def print_errors(result: ErrorAnalysis) -> None:
    """What all systems get right and what none does, with examples, and the scores by slice."""
    out = console()
    rows: list[Sequence[object]] = []
    for label, errors in result.classes.items():
        right = (errors.all_right, errors.none_right)
        parts = ((part, f"{100 * part / errors.items:.1f}" if errors.items else "-") for part in right)
        rows.append((coloured(label), errors.items, *chain.from_iterable(parts)))
    count = len(result.systems)
    title = f"{result.task}, {count} system{'s' if count > 1 else ''}: items all get right, items none does"
    _show(title, ["gold", "items", "all right", "%", "none right", "%"], rows)
    for label, errors in result.classes.items():
        for mark, items in (("+", errors.easy), ("-", errors.hard)):
            for item in items:
                answers = ", ".join(f"{_plain(answer)} {count}" for answer, count in item.answers.items())
                wrong = "" if mark == "+" else f" [dim]({answers})[/]"
                text = f"[dim]{item.position}[/] {_plain(' / '.join(item.turns))}{wrong}"
                out.print(f"{coloured(label)} [bold]{mark}[/] {text}", soft_wrap=True)
    print_slices(result.slices, result.metric)


def print_slices(slices: Mapping[str, SliceScores], metric: str) -> None:
    """The scores of systems on each part of the data."""
    for name, part in slices.items():
        cells = [
            (_plain(group), _plain(system), scores.items, scores.accuracy, scores.macro_f1, scores.score)
            for group, systems in part.groups.items()
            for system, scores in systems.items()
        ]
        console().print()
        columns = [name, "system", "items", "accuracy", "macro-F1", f"official {metric}"]
        _show(f"By {name}: {part.description}", columns, cells, left=2)


def print_agreement(result: AgreementRelation, metric: str) -> None:
    """The score on dialogues with little and with much agreement, and kappa beside F1 of each label."""
    out, interval = console(), result.interval
    out.print(
        f"\nSpearman's correlation of agreement and score over {result.dialogues:,} dialogues: "
        f"[bold]{result.correlation:.4f}[/] (95 % interval {interval.low:.4f} to {interval.high:.4f})"
    )
    rows = [
        (f"{group.low:.2f} to {group.high:.2f}", group.dialogues, group.scores.items, group.scores.score)
        for group in result.groups
    ]
    title = "By agreement: dialogues by the mean share of annotators' pairs that agree on an utterance"
    _show(title, ["agreement", "dialogues", "items", metric], rows)
    labels = [(coloured(_plain(name)), of.share, of.kappa, of.f1) for name, of in result.labels.items()]
    out.print()
    _show("Per label: share of the items, Fleiss' kappa of the votes, F1", ["label", "share", "kappa", "F1"], labels)


def print_humans(result: HumanComparison) -> None:
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
    totals = ((_plain(judge.name), judge.overall) for judge in result.judges)
    rows = ((name, of.items, of.macro_f1, of.micro_f1, of.score, of.top2) for name, of in totals)
    _show(result.task, columns, rows)
    parts = [
        (_plain(group), _plain(judge.name), scores.items, scores.accuracy, scores.macro_f1, scores.top2)
        for group in dict.fromkeys(group for judge in result.judges for group in judge.groups)
        for judge in result.judges
        for scores in ([judge.groups[group]] if group in judge.groups else [])
    ]
    if parts:
        out.print()
        _show(f"By {result.by}", [str(result.by), "", "answers", "accuracy", "macro-F1", "top 2"], parts, left=2)
