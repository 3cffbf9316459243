"""`emoscope behaviour`: how a model does on the behaviour suite."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.options import LabelsOption
from emoscope.cli.output import coloured, console, table
from emoscope.cli.result import CommandResult
from emoscope.core.dialogue import Detection

if TYPE_CHECKING:
    from emoscope.evaluation.behaviour.cases import Case
    from emoscope.evaluation.behaviour.run import BehaviourReport


def behaviour_cli(
    model: Annotated[str, typer.Argument(help="`default`, `open`, `nano`, or a run's folder.")] = "default",
    labels: LabelsOption = None,
    failures: Annotated[
        bool, typer.Option("--failures", help="Also list the failed cases with the model's answers.")
    ] = False,
) -> CommandResult:
    """Run the behaviour suite on a model: negation, sarcasm, grief, typos, changed context, ..."""
    from emoscope.detector import load
    from emoscope.evaluation.behaviour import run_suite

    report = run_suite(load(model, labels=labels))
    value: dict[str, object] = {
        "model": report.model,
        "labels": report.labels,
        "head": report.head,
        "figures": report.figures(),
    }
    if failures:
        value["failures"] = report.failures
    return CommandResult(value, partial(_print_report, report, failures=failures))


def _print_report(report: "BehaviourReport", *, failures: bool) -> None:
    figures = report.figures()
    rows = [
        (each.type, each.kind, each.passed, each.n, f"{each.low:.2f} to {each.high:.2f}", each.skipped or None)
        for each in figures
    ]
    out = console()
    out.print(f"[bold]{escape(report.model)}[/], labels {escape(report.head)}: {', '.join(map(escape, report.labels))}")
    columns = ["type", "kind", "passed", "of", f"{figures[0].level:.0%} interval", "skipped"]
    out.print(table(None, columns, rows, left=2))
    if report.skipped:
        out.print(f"{len(report.skipped)} cases were skipped: no label of the set can express what they expect.")
    for outcome in report.failures if failures else ():
        case = outcome.case
        out.print(f"\n[bold]{case.kind}[/], {case.situation} ({case.type}): expected {case.expectation}")
        for dialogue, answer in zip(case.dialogues, outcome.answers, strict=True):
            out.print(f"  {_answer(case, answer)}  {escape(' / '.join(dialogue.texts))}", soft_wrap=True)


def _answer(case: "Case", answer: Detection) -> str:
    from emoscope.evaluation.behaviour.cases import Direction, probability_of

    shown = f"{coloured(answer.label)} {answer.score:4.0%}"
    if isinstance(case, Direction) and case.change != "becomes":
        shown += f" ({case.emotions[0]} {probability_of(case.emotions[0], answer):.1%})"
    return shown
