"""`emoscope data`: fetch a task's files, check them, describe them."""

import os
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emoscope.cli.data_stats import stats
from emoscope.cli.options import DataOption
from emoscope.cli.output import bars, console, table
from emoscope.cli.result import CommandGroup, CommandResult
from emoscope.core.errors import EmoscopeError
from emoscope.tasks import Task, get_task
from emoscope.tasks.data import check_files, data_folder

if TYPE_CHECKING:
    from emoscope.tasks.fetch import Fetched

TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="Task name; `emoscope tasks` lists them.")]

app = CommandGroup(help="Fetch a task's files, check them, describe them.", no_args_is_help=True)


@app.command()
def get(
    task: TaskArgument,
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="Accept the data's terms without being asked.")
    ] = False,
    mirror: Annotated[
        str | None, typer.Option(metavar="URL", help="Fetch files of the same names from this URL instead.")
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="User name for password-protected files; the password is asked for, or is $EMOSCOPE_<TASK>_PASSWORD.",
        ),
    ] = None,
    data: DataOption = None,
) -> CommandResult:
    """Fetch a task's files from their public home, after showing their terms. Existing files are kept."""
    from emoscope.tasks.fetch import needed

    chosen, login = get_task(task), None
    if needed(chosen, data):
        if not accept_terms and not _terminal():
            raise EmoscopeError(
                f"{chosen.name}: the data's terms must be accepted, and there is no terminal to ask on; "
                f"read them with `emoscope tasks {chosen.name}` and add --accept-terms"
            )
        _show_terms(chosen, data)
        if not accept_terms and not typer.confirm("Do you accept these terms?", err=True):
            typer.echo("terms not accepted, nothing was fetched", err=True)
            raise typer.Exit(1)
        login = _login(chosen, user)
    files = _fetch(chosen, data, mirror, login)
    rows = [{"file": each.path.name, "path": each.path, "state": each.state, "note": each.note} for each in files]
    shown = [[file.path.name, file.state, escape(file.note)] for file in files]
    return CommandResult({"task": chosen.name, "files": rows}, partial(_print_files, shown, files[0].path.parent))


@app.command()
def check(task: TaskArgument, data: DataOption = None) -> CommandResult:
    """Compare a task's files with their published checksums; exit code 1 if one differs or none is here."""
    chosen = get_task(task)
    folder = data_folder(chosen, data)
    rows = check_rows(chosen, data)
    notes = {"first download": "compared with the first download, as no checksum is published"}
    shown = [[row["file"], row["state"], notes.get(row["against"], "")] for row in rows]
    states = {row["state"] for row in rows}
    return CommandResult(
        {"task": chosen.name, "folder": folder, "files": rows},
        partial(_print_files, shown, folder),
        failed="differs" in states or states == {"absent"},
    )


def check_rows(task: Task, root: Path | None = None) -> list[dict[str, Any]]:
    """Each file of a task: its splits, its state, and which checksum it was compared with.

    >>> from emoscope.tasks import get_task
    >>> check_rows(get_task("emocontext"), Path("no-such-folder"))[0]
    {'file': 'train.txt', 'splits': ['train'], 'state': 'absent', 'against': None}
    """
    splits: dict[str, dict[str, None]] = defaultdict(dict)
    for revision in task.metadata.revisions:
        for split, file in revision.splits.items():
            splits[file.name][split] = None
    return [
        {"file": file.path.name, "splits": list(splits[file.path.name]), "state": file.state, "against": file.against}
        for file in check_files(task, root)
    ]


def _print_files(rows: list[list[str]], folder: Path) -> None:
    out = console()
    out.print(table(None, ["file", "state", ""], rows, left=3))
    out.print(f"in {escape(str(folder))}", soft_wrap=True)


def _show_terms(task: Task, root: Path | None) -> None:
    from emoscope.tasks.fetch import needed

    states = {checked.path.name: checked.state for checked in check_files(task, root)}
    files = [
        f"{name} (differs from the published one; will be replaced)" if states[name] == "differs" else name
        for download in needed(task, root)
        for name in download.saves
    ]
    facts = {
        "home": task.metadata.home,
        "terms": task.metadata.terms,
        "cite": task.metadata.citation,
        "fetch": ", ".join(files),
        "into": str(data_folder(task, root)),
    }
    # To standard error, so that --json leaves one document on standard output.
    out = console(stderr=True)
    out.print(f"[bold]{escape(task.metadata.title)}[/]")
    for name, fact in facts.items():
        out.print(f"  {name:<6} {escape(fact)}", soft_wrap=True)


def _terminal() -> bool:
    return sys.stdin.isatty()


def _login(task: Task, user: str | None) -> tuple[str, str] | None:
    if user is None:
        return None
    variable = f"EMOSCOPE_{task.name.upper().replace('-', '_')}_PASSWORD"
    if password := os.environ.get(variable):
        return user, password
    if not _terminal():
        raise EmoscopeError(f"{task.name}: no terminal to ask for the password on; set {variable}")
    return user, typer.prompt(f"Password of {user}", hide_input=True, err=True)


def _fetch(task: Task, root: Path | None, mirror: str | None, login: tuple[str, str] | None) -> "list[Fetched]":
    from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn

    from emoscope.tasks.fetch import fetch

    with bars(TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()) as bar:
        started: dict[str, TaskID] = {}

        def progress(name: str, done: int, total: int | None) -> None:
            if name not in started:
                started[name] = bar.add_task(escape(name), total=None)
            bar.update(started[name], completed=done, total=total)

        return fetch(task, root, mirror=mirror, login=login, progress=progress)


app.command()(stats)
