"""`emoscope keys`: API keys for detection, each with its own limits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.challenge.command import DataDirOption
from emoscope.cli.output import table
from emoscope.cli.result import CommandGroup, CommandResult
from emoscope.core.extras import check_installed

if TYPE_CHECKING:
    from emoscope.server.detect.keys import KeyFile

app = CommandGroup(no_args_is_help=True, help="API keys for detection, each with its own limits.")
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the key's owner.")]


def _file(data_dir: Path | None) -> "KeyFile":
    check_installed("fastapi", extra="server")
    from emoscope.server.detect.keys import KeyFile
    from emoscope.server.settings import Settings

    return KeyFile(Settings.from_environment(given={"data_dir": data_dir}).data_dir)


@app.command("add")
def add(
    name: NameArgument,
    dialogues: Annotated[
        int | None, typer.Option("--dialogues-per-minute", min=0, help="Limit of this key; 0 means unlimited.")
    ] = None,
    explanations: Annotated[
        int | None, typer.Option("--explanations-per-minute", min=0, help="The same for explanations.")
    ] = None,
    data_dir: DataDirOption = None,
) -> CommandResult:
    """Create a key; it is shown only once. A running server accepts it within a second."""
    limits = {"dialogues_per_minute": dialogues, "explanations_per_minute": explanations}
    key = _file(data_dir).add(name, **limits)
    return CommandResult({"name": name, "key": key}, key)


@app.command("list")
def list_keys(data_dir: DataDirOption = None) -> CommandResult:
    """List the keys and their limits."""
    columns = ("name", "dialogues_per_minute", "explanations_per_minute")
    rows = [{column: getattr(key, column) for column in columns} for key in _file(data_dir).all()]
    shown = [[_limit(value) for value in row.values()] for row in rows]
    return CommandResult(rows, [table(None, ["name", "dialogues a minute", "explanations a minute"], shown)])


@app.command("revoke")
def revoke(name: NameArgument, data_dir: DataDirOption = None) -> CommandResult:
    """Revoke a key."""
    _file(data_dir).revoke(name)
    return CommandResult({"name": name, "state": "revoked"}, f"{name}: revoked")


def _limit(value: object) -> str:
    return "as without a key" if value is None else "none" if value == 0 else escape(str(value))
