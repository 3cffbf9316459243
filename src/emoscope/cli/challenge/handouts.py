"""What participants get and tell: files, texts, and the survey of their systems."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.challenge.command import Outcome, SlugArgument, command, print_views
from emoscope.cli.output import JsonOption, console, print_json, table
from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge import services
from emoscope.server.challenge.services.actor import OPERATOR

if TYPE_CHECKING:
    from emoscope.server.challenge.views import FileView
    from emoscope.server.store import Store


@command("files")
def files_cli(store: "Store", slug: SlugArgument, as_json: JsonOption = False) -> None:
    """List the files that are given out besides those of the phases."""
    _print(services.handouts.list_files(store, OPERATOR, slug), as_json=as_json)


def _print(files: "list[FileView]", *, as_json: bool = False) -> None:
    print_views(
        files,
        {
            "file": lambda file: escape(file.name),
            "title": lambda file: escape(file.title),
            "from phase": lambda file: file.phase or "",
            "given out": lambda file: "yes" if file.given_out else "not yet",
            "bytes": lambda file: file.size,
        },
        as_json=as_json,
        left=4,
    )


@command("add-file")
def add_file_cli(
    store: "Store",
    slug: SlugArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file, such as training data.")],
    title: Annotated[str, typer.Option("--title", help="What it is, in a few words.")] = "",
    phase: Annotated[str | None, typer.Option("--phase", help="Give it out when this phase opens.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Give a file to participants; one of the same name is replaced."""
    if not file.is_file():
        raise EmoscopeError(f"{file}: no such file")
    _print(services.handouts.add_file(store, OPERATOR, slug, file, title=title, phase=phase), as_json=as_json)


@command("remove-file")
def remove_file_cli(
    store: "Store", slug: SlugArgument, name: Annotated[str, typer.Argument(metavar="NAME", help="The file's name.")]
) -> Outcome:
    """Give a file out no longer."""
    services.handouts.remove_file(store, OPERATOR, slug, name)
    return Outcome(f"{slug}: {name} is no longer given out", {"challenge": slug, "file": name, "state": "removed"})


@command("texts")
def texts_cli(
    store: "Store",
    slug: SlugArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The challenge's definition, edited.")],
) -> Outcome:
    """Take title, texts, survey and `report` from the edited definition; nothing else changes."""
    services.challenges.rewrite(store, OPERATOR, slug, file)
    return Outcome(f"{slug}: texts and survey are those of {file}", {"challenge": slug, "file": file})


@command("survey")
def survey_cli(
    store: "Store",
    slug: SlugArgument,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write one CSV of all questions here.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what teams told about their systems, a table for each question."""
    from emoscope.core.files import atomic_write
    from emoscope.server.challenge.board.techniques import techniques, techniques_text

    tables = techniques(store, OPERATOR, slug)
    if output is not None:
        with atomic_write(output) as handle:
            handle.write(techniques_text(tables))
        return
    if as_json:
        print_json([one.as_dict() for one in tables])
        return
    if not any(one.rows for one in tables):
        typer.echo(f"{slug}: no team has told about its system yet")
        return
    for one in tables:
        used = [at for at, count in enumerate(one.counts) if count]
        rows = [[row.rank, escape(row.team), *("x" if row.marks[at] else "" for at in used)] for row in one.rows]
        rows.append(["", "teams", *(one.counts[at] for at in used)])
        console().print(table(one.title, ["rank", "team", *(escape(one.columns[at]) for at in used)], rows, left=2))
