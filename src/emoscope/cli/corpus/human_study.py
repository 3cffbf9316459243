"""`emoscope corpus human-study`: how people do at a task, as a system of the leaderboard."""

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.corpus.files import FilesArgument, read_panel
from emoscope.cli.corpus.task_files import example_names
from emoscope.cli.output import JsonOption, coloured, console, print_json, table
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.annotation.aggregate import Method

if TYPE_CHECKING:
    from rich.console import RenderableType

    from emoscope.core.dialogue import Example
    from emoscope.corpus.annotation.human_study import HumanStudy, Part


def human_study(
    files: FilesArgument,
    gold: Annotated[
        Path,
        typer.Option("--gold", "-g", help="The right labels: a CSV with task,label, or with --task an official file."),
    ],
    task: Annotated[str | None, typer.Option("--task", "-t", help="The shared task that --gold is of.")] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", help="Score by a part of the data: cue, length, emoji.  \\[default: cue, for iest]"),
    ] = None,
    method: Annotated[Method, typer.Option("--method", "-m", help="How judges become one answer.")] = Method.majority,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write one answer an item: task,label, or with --task a submission."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Hold people's judgements to gold: best guess (top 1) and others (top 2), alone and together, by cue word.

    With --task and a judgement of every item, the output is a submission like any system's.
    """
    examples = {} if task is None else _official(task, gold)
    right = _right_labels(gold, examples)
    grouping = by or ("cue" if task == "iest" else None)
    panel = read_panel(files)
    if not panel.judgements:
        raise EmoscopeError("a human study needs to know who judged; these files hold votes without names")
    from emoscope.corpus.annotation.human_study import human_study as study

    found = study(panel.judgements, right, group_of=_grouping(grouping, gold, examples), method=method)
    if output is not None:
        _write(output, found.predictions, task, examples)
    if as_json:
        print_json({"by": grouping, "output": None if output is None else str(output), **found.as_dict()})
        return
    out = console()
    for part in tables(found, grouping):
        out.print(part)
        out.print()
    if output is not None:
        out.print(f"wrote {output}", markup=False, soft_wrap=True)


def _official(name: str, gold: Path) -> "dict[str, Example]":
    from emoscope.tasks import get_task

    return example_names(gold, get_task(name).read(gold))


def _right_labels(gold: Path, examples: "Mapping[str, Example]") -> dict[str, str]:
    from emoscope.corpus.annotation.workers import read_gold

    if not examples:
        return read_gold(gold)
    right = {name: example.label for name, example in examples.items() if example.label is not None}
    if not right:
        raise InputError(gold, "has no labels: a study needs a labelled file")
    return right


def _grouping(by: str | None, gold: Path, examples: "Mapping[str, Example]") -> Callable[[str], str] | None:
    """Which group a task belongs to; its text comes from the official file, or from a column `text` of the CSV."""
    if by is None:
        return None
    from emoscope.core.dialogue import Dialogue, Example
    from emoscope.corpus.annotation.csv_files import read_rows
    from emoscope.evaluation.slices import SLICES

    chosen = SLICES[by]
    known = dict(examples)
    if not known:
        for _, cells in read_rows(gold, ("task", "label", "text")):
            known[cells["task"].strip()] = Example(Dialogue.of([cells["text"]]), turn=0)
    return lambda task: chosen.group_of(known[task])


def _write(path: Path, predictions: Mapping[str, str], task: str | None, examples: "Mapping[str, Example]") -> None:
    from emoscope.core.files import atomic_write
    from emoscope.tasks import get_task

    if task is None:
        with atomic_write(path) as handle:
            rows = csv.writer(handle, lineterminator="\n")
            rows.writerow(["task", "label"])
            rows.writerows(predictions.items())
        return
    missing = [name for name in examples if name not in predictions]
    if missing:
        raise EmoscopeError(
            f"{path}: a submission needs every item, and {len(missing):,} of {len(examples):,} were not judged "
            f"(the first is {missing[0]!r}); `humans` of a challenge takes judgements of a part"
        )
    get_task(task).write_submission(path, list(examples.values()), [predictions[name] for name in examples])


def tables(found: "HumanStudy", by: str | None) -> "Iterator[RenderableType]":
    """What a person is shown."""
    columns = ["", "items", "answers", "top 1", "top 2", "macro-F1", "together: top 1", "top 2", "macro-F1"]
    title = f"{found.overall.alone.answers:,} judgements of {found.overall.items:,} items by {found.workers:,} workers"
    yield table(title, columns, [_row("all", found.overall)])
    notes = {
        "items with gold that nobody judged": found.unjudged,
        "judgements of items without gold, left out": found.without_gold,
    }
    told = [f"{found.named:.2f} labels named in a judgement", *(f"{n:,} {what}" for what, n in notes.items() if n)]
    yield "\n".join(told)
    if found.groups:
        yield table(f"By {by}", columns, [_row(escape(name), part) for name, part in found.groups.items()])
    rows = [[coloured(escape(label)), one.answers, one.right, one.f1] for label, one in found.per_label.items()]
    yield table("By gold label", ["label", "answers", "right", "F1"], rows)


def _row(name: str, part: "Part") -> list[object]:
    alone, together = part.alone, part.together
    scores = [alone.top1, alone.top2, alone.macro_f1, together.top1, together.top2, together.macro_f1]
    return [name, part.items, alone.answers, *scores]
