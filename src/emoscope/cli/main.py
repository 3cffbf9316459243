"""The `emoscope` command: all commands under their names; a user's mistake becomes one line."""

import io
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from emoscope import __version__
from emoscope.cli import (
    behaviour,
    card,
    data,
    detect,
    distil,
    evaluate,
    export,
    listing,
    mcp,
    score,
    serve,
    submit,
    train,
)
from emoscope.cli.challenge import group as challenge_group
from emoscope.cli.corpus import group as corpus
from emoscope.core.errors import EmoscopeError

app = typer.Typer(
    name="emoscope",
    help="Find the emotion in a conversation.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, Callable[..., None]] = {
    "detect": detect.detect_cli,
    "demo": detect.demo_cli,
    "score": score.score_cli,
    "card": card.card_cli,
    "behaviour": behaviour.behaviour_cli,
    "tasks": listing.tasks,
    "systems": listing.systems,
    "train": train.train_cli,
    "crossvalidate": train.crossvalidate_cli,
    "predict": train.predict_cli,
    "export": export.export_cli,
    "verify": evaluate.verify_cli,
    "evaluate": evaluate.evaluate_cli,
    "compare": evaluate.compare_cli,
    "errors": evaluate.errors_cli,
    "human": evaluate.human_cli,
    "serve": serve.serve_cli,
    "mcp": mcp.mcp_cli,
    "submit": submit.submit_cli,
}
for name, command in COMMANDS.items():
    app.command(name)(command)
app.add_typer(data.app, name="data")
app.add_typer(corpus.app, name="corpus")
app.add_typer(distil.app, name="distil")
app.add_typer(challenge_group, name="challenge")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"emoscope {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None: ...


def whole_command() -> Any:
    """The whole tree of commands; a flag shows no type, since it takes no value."""
    whole = typer.main.get_command(app)
    waiting = [typer.Context(whole, **whole.context_settings)]
    while waiting:
        context = waiting.pop()
        for each in getattr(context.command, "commands", {}).values():
            waiting.append(typer.Context(each, parent=context, **each.context_settings))
        for parameter in context.command.get_params(context):
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
    return whole


def run() -> None:
    """The entry point: exit code 0 if all went well, 1 for a negative answer, 2 for a mistake in the input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a screen without a character shows ? in its place
            stream.reconfigure(errors="replace")
    try:
        whole_command()(prog_name="emoscope")
    except EmoscopeError as error:
        typer.echo(f"emoscope: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our pipe has gone (`| head`): not an error, but Python would complain on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        typer.echo("emoscope: interrupted", err=True)
        sys.exit(130)
