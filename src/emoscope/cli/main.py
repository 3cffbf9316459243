"""The `emoscope` command: gathers the groups and turns a user's mistake into one line."""

import os
import sys
from typing import Annotated

import typer

from emoscope import __version__
from emoscope.cli import card, data, detect, distil, evaluate, export, listing, score, serve, submit, train
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
for group in (detect, score, card, listing, data, corpus, train, distil, export, evaluate):
    group.register(app)
app.command("serve")(serve.serve_cli)
app.command("submit")(submit.submit_cli)
app.add_typer(challenge_group, name="challenge")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"emoscope {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None: ...


def run() -> None:
    """The entry point: exit code 0 if all went well, 1 for a negative answer, 2 for a mistake in the input."""
    try:
        app(prog_name="emoscope")
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
