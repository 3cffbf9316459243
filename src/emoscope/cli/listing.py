"""`emoscope tasks` and `emoscope systems`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from emoscope.cli.options import DataOption
from emoscope.cli.output import console, table
from emoscope.cli.result import CommandResult
from emoscope.core.errors import EmoscopeError
from emoscope.evaluation.measured import measured_scores
from emoscope.tasks import TASKS, Task, get_task
from emoscope.tasks.data import data_folder

_YES = {True: "yes", False: "no"}


def tasks(
    name: Annotated[str | None, typer.Argument(help="Show this task in full.")] = None,
    data: DataOption = None,
    published: Annotated[
        bool, typer.Option("--published", help="Show the task's published results, as its paper prints them.")
    ] = False,
) -> CommandResult:
    """List the shared tasks, or show one of them in full."""
    if published:
        from emoscope.cli.published_tables import published_tables
        from emoscope.tasks.published import published as published_results

        if name is None:
            raise EmoscopeError("--published: name a task")
        results = published_results(name)
        return CommandResult(results, published_tables(results))
    if name is not None:
        described = describe_task(get_task(name), data)
        return CommandResult(described, partial(_print_task, described))
    every = [describe_task(get_task(task), data) for task in TASKS]
    return CommandResult(every, [_task_table(every)])


def describe_task(task: Task, root: Path | None = None) -> dict[str, Any]:
    """Everything known about a task, and which of its splits are on this machine.

    >>> from emoscope.tasks import get_task
    >>> describe_task(get_task("emocontext"), Path("no-such-folder"))["splits"]["dev"]
    {'file': 'dev.txt', 'examples': 2755, 'labelled': True, 'revision': 'unlabelled-test', 'path': None}
    """
    metadata = task.metadata
    plain = {"name", "title", "description", "labels", "neutral_label", "terms", "citation", "home", "revisions"}
    return {
        **metadata.model_dump(mode="json", include=plain),
        "metric": {"name": task.metric.name, "description": task.metric.description},
        "splits": {split: _describe_split(task, split, root) for split in metadata.splits},
        "folder": str(data_folder(task, root)),
        "formats": {"data": metadata.data_format, "submission": metadata.submission_format},
    }


def _describe_split(task: Task, split: str, root: Path | None) -> dict[str, Any]:
    """The split as found on this machine, else as its first revision describes it."""
    folder = data_folder(task, root)
    having = [revision for revision in task.metadata.revisions if split in revision.splits]
    here = [revision for revision in having if (folder / revision.splits[split].name).is_file()]
    revision = (here or having)[0]
    file = revision.splits[split]
    return {
        "file": file.name,
        "examples": file.examples,
        "labelled": file.labelled,
        "revision": revision.name,
        "path": str(folder / file.name) if here else None,
    }


def _task_table(every: Sequence[dict[str, Any]]) -> Table:
    rows = [
        [
            task["name"],
            escape(task["title"]),
            ", ".join(task["labels"]),
            task["metric"]["name"],
            "\n".join(f"{split} {_size(entry)}" for split, entry in task["splits"].items()),
            _presence(task["splits"]),
            escape(task["terms"]),
        ]
        for task in every
    ]
    columns = ["task", "title", "labels", "metric", "splits", "data here", "terms"]
    return table(None, columns, rows, left=len(columns), no_wrap=(0, 3, 4))


def _print_task(task: dict[str, Any]) -> None:
    facts = {
        "labels": ", ".join(task["labels"]),
        "neutral": task["neutral_label"] or "none of them",
        "metric": f"{task['metric']['name']}: {task['metric']['description']}",
        "data": task["formats"]["data"] or "-",
        "submission": task["formats"]["submission"] or "-",
        "terms": task["terms"],
        "cite": task["citation"],
        "home": task["home"],
        "folder": task["folder"],
    }
    out, folder = console(), Path(task["folder"])
    out.print(f"[bold]{escape(task['title'])}[/]\n{escape(task['description'])}\n")
    for name, fact in facts.items():
        out.print(f"{name:<10} {escape(fact)}", soft_wrap=True)
    for revision in task["revisions"]:
        rows = [
            [split, file["name"], _YES[file["labelled"]], _YES[(folder / file["name"]).is_file()], file["examples"]]
            for split, file in revision["splits"].items()
        ]
        out.print(f"\n[bold]{revision['name']}[/]: {escape(revision['note'])}", soft_wrap=True)
        out.print(table(None, ["split", "file", "labelled", "here", "examples"], rows, left=4))
        for download in revision["downloads"]:
            out.print(f"from {escape(download['url'])}", soft_wrap=True)


def _size(split: dict[str, Any]) -> str:
    return "?" if split["examples"] is None else f"{split['examples']:,}"


def _presence(splits: dict[str, dict[str, Any]]) -> str:
    here = [split for split, entry in splits.items() if entry["path"]]
    if not here:
        return "no"
    return "yes" if len(here) == len(splits) else f"only {', '.join(here)}"


def systems(
    name: Annotated[str | None, typer.Argument(help="Show this system in full, with its settings.")] = None,
    task: Annotated[str | None, typer.Option("--task", "-t", help="Only systems made for this task.")] = None,
) -> CommandResult:
    """List the systems that can be trained, with the papers' scores and our own, or show one of them in full."""
    from emoscope.systems import SYSTEMS

    if name is not None:
        described = describe_system(name)
        return CommandResult(described, partial(_print_system, described))
    task_name = get_task(task).name if task is not None else None
    every = [SYSTEMS[name].metadata for name in SYSTEMS]
    chosen = [metadata for metadata in every if task_name is None or task_name in metadata.tasks]
    ours = measured_scores()
    rows = [
        (
            metadata.name,
            metadata.team,
            metadata.summary,
            "\n".join(metadata.tasks),
            "\n".join(f"{metadata.published[t]:.4f}" if t in metadata.published else "-" for t in metadata.tasks),
            "\n".join(str(ours.get(metadata.name, {}).get(t, "-")) for t in metadata.tasks),
            len(metadata.substitutions) + len(metadata.differences) or None,
        )
        for metadata in chosen
    ]
    columns = ["system", "team", "what it is", "task", "paper", "ours", "differs in"]
    note = (
        "The papers' scores are of their test sets. Ours are means over runs, of EmoContext's dev set and of folds of "
        "the others' training data, and IEST is a re-split: see docs/results/systems.md. `emoscope systems NAME` "
        "says in what ours differs from the paper's. The scores of `large` are those of the published blend, which one "
        "`train large` does not make."
    )
    value = [{**metadata.model_dump(), "measured": ours.get(metadata.name, {})} for metadata in chosen]
    shown = Group(table(None, columns, rows, left=4, no_wrap=(0, 3, 4, 5)), Text(note, style="dim"))
    return CommandResult(value, [shown])


def describe_system(name: str) -> dict[str, Any]:
    """Everything known about a system: paper, scores, substitutions and settings.

    >>> describe_system("nano")["settings"][0]["name"]
    'shift'
    """
    from emoscope.systems import SYSTEMS

    system = SYSTEMS[name]
    settings = [setting._asdict() for setting in system.settings_class.documented()]
    measured = measured_scores().get(name, {})
    return {**system.metadata.model_dump(), "measured": measured, "settings": settings}


def _print_system(system: dict[str, Any]) -> None:
    out = console()
    out.print(f"[bold]{system['name']}[/]: {escape(system['summary'])}\n")
    scores = [
        f"{task}: paper {system['published'].get(task, '-')}, ours {system['measured'].get(task, '-')}"
        for task in system["tasks"]
    ]
    facts = {
        "team": system["team"] or "-",
        "paper": system["citation"] or "-",
        "scores": "; ".join(scores),
        "gap": system["likely_cause"] or "-",
        "learns from": system["learns_from"],
        "needs": ", ".join(f"emoscope[{extra}]" for extra in system["extras"]),
        "instead of": "; ".join(system["substitutions"]) or "-",
        "differs": "; ".join(system["differences"]) or "-",
    }
    for name, fact in facts.items():
        out.print(f"{name:<12} {escape(fact)}", soft_wrap=True)
    rows = [(each["name"], escape(str(each["default"])), escape(each["meaning"])) for each in system["settings"]]
    out.print()
    out.print(table("Settings (--set name=value)", ["setting", "default", "meaning"], rows, left=3, no_wrap=(0,)))
    if system["citation"]:
        out.print(
            "Defaults are the paper's values where it gives them, else usual ones; see `instead of` and `differs`.",
            style="dim",
        )
