"""`emoscope corpus aggregate`: one label for each task, and a report of the annotators."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from emoscope.cli.corpus.files import FilesArgument, print_parts
from emoscope.cli.output import JsonOption, coloured, print_json, table
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.aggregate import Aggregated, Method
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.workers import SCREENING_RULES

if TYPE_CHECKING:
    from emoscope.corpus.annotation.panel import PanelReport

_WORKERS_SHOWN = 30


def aggregate(
    files: FilesArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the labels go: .csv or .jsonl.", show_default=False)
    ],
    method: Annotated[Method, typer.Option("--method", "-m", help="How votes become a label.")] = Method.majority,
    fallback: Annotated[
        str | None,
        typer.Option(help="Label of tasks without an absolute majority (non-neutral if not given), or tied ones."),
    ] = None,
    gold: Annotated[Path | None, typer.Option(help="Gold questions and their answers: a CSV with task,label.")] = None,
    min_gold: Annotated[
        float, typer.Option(min=0, max=1, help="Workers with a smaller share of right gold answers are refused.")
    ] = SCREENING_RULES.least_right,
    gold_least: Annotated[
        int, typer.Option(min=1, help="Workers who answered fewer gold questions are not judged by them.")
    ] = SCREENING_RULES.least_answers,
    as_json: JsonOption = False,
) -> None:
    """Give each task one label and its soft labels, and report on the annotators.

    Ties that no fallback settles go to the label with more votes on all tasks, then to the first in the alphabet. Gold
    questions are not written; all work of workers who fail them is discarded.
    """
    from emoscope.corpus.annotation.panel import aggregate_panel, read_panel, write_labels

    if output.suffix not in (".csv", ".jsonl"):
        raise EmoscopeError(f"{output}: expected a name in .csv or .jsonl")
    rules = GoldRules(least_right=min_gold, least_answers=gold_least)
    labels, report = aggregate_panel(read_panel(files), method, fallback=fallback, gold=gold, rules=rules)
    write_labels(output, labels)
    if as_json:
        print_json({"output": str(output), "method": method.value, **asdict(report)})
        return
    print_parts(tables(labels, report), output)


def tables(labels: Sequence[Aggregated], report: "PanelReport") -> Iterator[RenderableType]:
    """The results for a person."""
    counts = Counter(result.label for result in labels).most_common()
    rows = [[coloured(escape(label)), count, f"{count / report.tasks:.1%}"] for label, count in counts]
    yield table(f"{report.tasks:,} tasks labelled", ["label", "tasks", "share"], rows)
    notes = {
        "tied": report.tied,
        "given the fallback label": report.fallback,
        "left without a label, judged by refused workers only": len(report.unlabelled_tasks),
    }
    yield "\n".join(f"{count:,} {what}" for what, count in notes.items() if count) or "no ties"
    if not report.workers:
        return
    shown = sorted(report.workers, key=lambda worker: (not worker.refused, -worker.judgements, worker.worker))
    columns = ["worker", "judgements", "agrees with label", "gold answers", "gold right", ""]
    people = [
        [
            escape(worker.worker),
            worker.judgements,
            worker.agreement,
            worker.gold_answers,
            worker.gold_accuracy,
            "refused" if worker.refused else "too few to judge" if worker.gold_answers and not worker.judged else "",
        ]
        for worker in shown[:_WORKERS_SHOWN]
    ]
    refused = sum(worker.refused for worker in report.workers)
    more = f", {len(shown) - _WORKERS_SHOWN:,} more in --json" if len(shown) > _WORKERS_SHOWN else ""
    discarded = f"{refused:,} refused and {report.discarded_judgements:,} judgements discarded"
    yield table(f"{len(shown):,} workers, {discarded}{more}", columns, people)
