"""Files for participants, the texts of a challenge, and the survey of teams' systems."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.markup import escape
from rich.table import Table

from emoscope.cli.challenge.command import SlugArgument, command, listed
from emoscope.cli.output import table
from emoscope.cli.result import CommandResult
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import write_file
from emoscope.server.challenge import services
from emoscope.server.challenge.services.actor import OPERATOR

if TYPE_CHECKING:
    from emoscope.server.challenge.views import FileView, SurveyTable
    from emoscope.server.store import Store


@command("files")
def files_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """List the files for participants, other than those of the phases."""
    return _shown(services.handouts.list_files(store, OPERATOR, slug))


def _shown(files: "list[FileView]") -> CommandResult:
    return listed(
        files,
        {
            **{"file": "name", "title": "title", "from phase": lambda file: file.phase or ""},
            **{"available": lambda file: "yes" if file.given_out else "not yet", "bytes": "size"},
        },
        left=4,
    )


@command("add-file")
def add_file_cli(
    store: "Store",
    slug: SlugArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file, such as training data.")],
    title: Annotated[str, typer.Option("--title", help="What it is, in a few words.")] = "",
    phase: Annotated[str | None, typer.Option("--phase", help="Make it available when this phase opens.")] = None,
) -> CommandResult:
    """Make a file available to participants; one with the same name is replaced."""
    if not file.is_file():
        raise EmoscopeError(f"{file}: no such file")
    services.handouts.add_file(store, OPERATOR, slug, file, title=title, phase=phase)
    return _shown(services.handouts.list_files(store, OPERATOR, slug))


@command("remove-file")
def remove_file_cli(
    store: "Store", slug: SlugArgument, name: Annotated[str, typer.Argument(metavar="NAME", help="The file's name.")]
) -> CommandResult:
    """Stop offering a file."""
    services.handouts.remove_file(store, OPERATOR, slug, name)
    value = {"challenge": slug, "file": name, "state": "removed"}
    return CommandResult(value, f"{slug}: {name} is no longer available")


@command("texts")
def texts_cli(
    store: "Store",
    slug: SlugArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The challenge's definition, edited.")],
) -> CommandResult:
    """Update title, texts, survey and `report` from the edited definition; nothing else changes."""
    services.challenges.rewrite(store, OPERATOR, slug, file)
    return CommandResult({"challenge": slug, "file": file}, f"{slug}: texts and survey updated from {file}")


@command("survey")
def survey_cli(
    store: "Store",
    slug: SlugArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the answers to all questions to this CSV file.")
    ] = None,
) -> CommandResult:
    """Show what teams say about their systems, a table for each question."""
    from emoscope.server.challenge.board.techniques import techniques, techniques_text

    tables = techniques(store, OPERATOR, slug)
    if output is not None:
        write_file(output, techniques_text(tables))
        return CommandResult({"challenge": slug, "output": output}, [])
    value = [one.as_dict() for one in tables]
    if not any(one.rows for one in tables):
        return CommandResult(value, f"{slug}: no team has described its system yet")
    return CommandResult(value, [Group(*map(_answers, tables))])


def _answers(question: "SurveyTable") -> Table:
    used = [at for at, count in enumerate(question.counts) if count]
    rows = [[row.rank, escape(row.team), *("x" if row.marks[at] else "" for at in used)] for row in question.rows]
    rows.append(["", "teams", *(question.counts[at] for at in used)])
    return table(question.title, ["rank", "team", *(escape(question.columns[at]) for at in used)], rows, left=2)
