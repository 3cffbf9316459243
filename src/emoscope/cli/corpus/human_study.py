"""`emoscope corpus human-study`: how people do at a task, as a system of the leaderboard."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from emoscope.cli.corpus.files import FilesArgument, print_parts
from emoscope.cli.output import JsonOption, coloured, print_json, table
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.aggregate import Method

if TYPE_CHECKING:
    from emoscope.corpus.annotation.human_study import HumanScores, HumanStudy


def human_study(
    files: FilesArgument,
    gold: Annotated[
        Path,
        typer.Option("--gold", "-g", help="The right labels: a CSV with task,label, or with --task an official file."),
    ],
    task: Annotated[str | None, typer.Option("--task", "-t", help="The shared task that --gold is of.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Score by a part of the data: cue, length, emoji.  \\[default: cue, for iest]")
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
    from emoscope.corpus.annotation.gold_file import GoldFile
    from emoscope.corpus.annotation.human_study import human_study as score_people
    from emoscope.corpus.annotation.panel import read_panel

    right = GoldFile.read(gold, task)
    grouping = by or ("cue" if task == "iest" else None)
    panel = read_panel(files)
    if not panel.judgements:
        raise EmoscopeError("a human study needs to know who judged; these files hold votes without names")
    group_of = None if grouping is None else right.grouping(grouping)
    study, answers = score_people(panel.judgements, right.labels, group_of=group_of, method=method)
    if output is not None:
        right.write_answers(output, answers)
    if as_json:
        print_json({"by": grouping, "output": None if output is None else str(output), **asdict(study)})
        return
    print_parts(tables(study, grouping), output)


def tables(study: "HumanStudy", by: str | None) -> Iterator[RenderableType]:
    """The results for a person."""
    columns = ["", "items", "answers", "top 1", "top 2", "macro-F1", "together: top 1", "top 2", "macro-F1"]
    title = f"{study.alone.answers:,} judgements of {study.items:,} items by {study.workers:,} workers"
    yield table(title, columns, [_row("all", study)])
    notes = {
        "items with gold that nobody judged": study.unjudged,
        "judgements of items without gold, left out": study.without_gold,
    }
    named = f"{study.labels_named:.2f} labels named in a judgement"
    yield "\n".join([named, *(f"{count:,} {what}" for what, count in notes.items() if count)])
    if study.groups:
        yield table(f"By {by}", columns, [_row(escape(name), scores) for name, scores in study.groups.items()])
    rows = [[coloured(escape(label)), one.answers, one.right, one.f1] for label, one in study.per_label.items()]
    yield table("By gold label", ["label", "answers", "right", "F1"], rows)


def _row(name: str, human: "HumanScores") -> list[object]:
    alone, together = human.alone, human.together
    scores = [alone.top1, alone.top2, alone.macro_f1, together.top1, together.top2, together.macro_f1]
    return [name, human.items, alone.answers, *scores]
