"""`emoscope keys`: API keys for detection, each with its own limits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.challenge.command import DataDirOption
from emoscope.cli.output import JsonOption, console, print_json, say, table

if TYPE_CHECKING:
    from emoscope.server.detect.keys import KeyFile

app = typer.Typer(no_args_is_help=True, help="API keys for detection, each with its own limits.")
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is.")]


def _file(data_dir: Path | None) -> "KeyFile":
    from emoscope.core.extras import check_installed

    check_installed("fastapi", extra="server")
    from emoscope.server.detect.keys import KeyFile
    from emoscope.server.settings import Settings

    return KeyFile(Settings.from_environment(given={"data_dir": data_dir}).data_dir)


@app.command("add")
def add(
    name: NameArgument,
    dialogues: Annotated[
        int | None, typer.Option("--dialogues-per-minute", min=0, help="Its own limit; 0 is none at all.")
    ] = None,
    explanations: Annotated[
        int | None, typer.Option("--explanations-per-minute", min=0, help="The same for explanations.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key, shown this once. A running server knows it within a second."""
    limits = {"dialogues_per_minute": dialogues, "explanations_per_minute": explanations}
    key = _file(data_dir).add(name, **limits)
    say(key, {"name": name, "key": key}, as_json=as_json)


@app.command("list")
def list_keys(data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """List the keys and their limits."""
    keys = _file(data_dir).all()
    rows = [
        {
            "name": key.name,
            "dialogues_per_minute": key.dialogues_per_minute,
            "explanations_per_minute": key.explanations_per_minute,
        }
        for key in keys
    ]
    if as_json:
        print_json(rows)
        return
    shown = [[_limit(value) for value in row.values()] for row in rows]
    console().print(table(None, ["name", "dialogues a minute", "explanations a minute"], shown))


@app.command("revoke")
def revoke(name: NameArgument, data_dir: DataDirOption = None, as_json: JsonOption = False) -> None:
    """Take a key away."""
    _file(data_dir).revoke(name)
    say(f"{name}: revoked", {"name": name, "state": "revoked"}, as_json=as_json)


def _limit(value: object) -> str:
    return "as without a key" if value is None else "none" if value == 0 else escape(str(value))
