"""`emoscope corpus aggregate`: one label for each task, and a report of the annotators."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emoscope.cli.corpus.files import FilesArgument, Panel, read_panel
from emoscope.cli.output import JsonOption, coloured, console, print_json, table
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.aggregate import Method
from emoscope.corpus.annotation.workers import GOLD_LEAST, MIN_GOLD

if TYPE_CHECKING:
    from rich.console import RenderableType

    from emoscope.corpus.annotation.aggregate import Aggregated
    from emoscope.corpus.annotation.workers import Worker

_WORKERS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """The tasks' labels, the annotators, and what was discarded."""

    aggregated: "Sequence[Aggregated]"
    workers: "Sequence[Worker]"
    discarded: int  # judgements of refused workers
    unlabelled: tuple[str, ...]  # tasks that only refused workers have judged

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "tasks": len(self.aggregated),
            "labels": dict(sorted(Counter(one.label for one in self.aggregated).items())),
            "tied": sum(one.tied for one in self.aggregated),
            "fallback": sum(one.fallback for one in self.aggregated),
            "discarded_judgements": self.discarded,
            "unlabelled_tasks": list(self.unlabelled),
            "workers": [worker.as_dict() for worker in self.workers],
        }


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
    ] = MIN_GOLD,
    gold_least: Annotated[
        int, typer.Option(min=1, help="Workers who answered fewer gold questions are not judged by them.")
    ] = GOLD_LEAST,
    as_json: JsonOption = False,
) -> None:
    """Give each task one label and its soft labels, and report on the annotators.

    Ties that no fallback settles go to the label with more votes on all tasks, then to the first in the alphabet. Gold
    questions are not written; all work of workers who fail them is discarded.
    """
    if output.suffix not in (".csv", ".jsonl"):
        raise EmoscopeError(f"{output}: expected a name in .csv or .jsonl")
    panel = read_panel(files)
    found = aggregate_panel(panel, method, fallback=fallback, gold=gold, min_gold=min_gold, gold_least=gold_least)
    write_labels(output, found.aggregated)
    if as_json:
        print_json({"output": str(output), "method": method.value, **found.as_dict()})
        return
    out = console()
    for part in tables(found):
        out.print(part)
        out.print()
    out.print(f"wrote {output}", markup=False, soft_wrap=True)


def aggregate_panel(
    panel: Panel,
    method: Method,
    *,
    fallback: str | None = None,
    gold: Path | None = None,
    min_gold: float = MIN_GOLD,
    gold_least: int = GOLD_LEAST,
) -> Outcome:
    """Discard the work of refused workers, then aggregate what is left."""
    from emoscope.corpus.annotation.aggregate import aggregate as label_tasks
    from emoscope.corpus.annotation.aggregate import aggregate_votes
    from emoscope.corpus.annotation.workers import read_gold, sift, worker_report

    if not panel.judgements:
        if gold is not None:
            raise EmoscopeError("gold questions need to know who answered; these files hold votes without names")
        return Outcome(aggregate_votes(panel.votes, method, fallback=fallback), (), 0, ())
    answers = {} if gold is None else read_gold(gold)
    if answers and not answers.keys() & panel.votes.keys():
        raise EmoscopeError(f"{gold}: nobody has judged any of its tasks")
    sifted = sift(panel.judgements, answers, min_gold=min_gold, gold_least=gold_least)
    found = label_tasks(sifted.kept, method, fallback=fallback)
    labelled = {one.task for one in found}
    lost = tuple(sorted({said.task for said in sifted.discarded} - labelled))
    return Outcome(found, worker_report(sifted, found), len(sifted.discarded), lost)


def write_labels(path: Path, aggregated: "Sequence[Aggregated]") -> None:
    """Write the labels; soft labels are an object in JSONL, a column for each label (`soft:joy`) in CSV."""
    from emoscope.core.files import atomic_write

    with atomic_write(path) as handle:
        if path.suffix == ".jsonl":
            for one in aggregated:
                handle.write(json.dumps(one.as_dict(), ensure_ascii=False) + "\n")
            return
        labels = sorted({label for one in aggregated for label in one.soft})
        rows = csv.writer(handle, lineterminator="\n")
        rows.writerow(["task", "label", "votes", "tied", "fallback", *(f"soft:{label}" for label in labels)])
        for one in aggregated:
            soft = [repr(one.soft.get(label, 0.0)) for label in labels]
            rows.writerow([one.task, one.label, sum(one.votes.values()), int(one.tied), int(one.fallback), *soft])


def tables(found: Outcome) -> "Iterator[RenderableType]":
    """What a person is shown."""
    counts = Counter(one.label for one in found.aggregated)
    total = max(counts.total(), 1)
    rows = [[coloured(escape(label)), count, f"{count / total:.1%}"] for label, count in counts.most_common()]
    yield table(f"{len(found.aggregated):,} tasks labelled", ["label", "tasks", "share"], rows)
    notes = {
        "tied": sum(one.tied for one in found.aggregated),
        "given the fallback label": sum(one.fallback for one in found.aggregated),
        "left without a label, judged by refused workers only": len(found.unlabelled),
    }
    yield "\n".join(f"{count:,} {what}" for what, count in notes.items() if count) or "no ties"
    if not found.workers:
        return
    shown = sorted(found.workers, key=lambda worker: (not worker.refused, -worker.judgements, worker.worker))
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
    refused = sum(worker.refused for worker in found.workers)
    more = f", {len(shown) - _WORKERS_SHOWN:,} more in --json" if len(shown) > _WORKERS_SHOWN else ""
    title = f"{len(shown):,} workers, {refused:,} refused and {found.discarded:,} judgements discarded{more}"
    yield table(title, columns, people)
