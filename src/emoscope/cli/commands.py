"""All commands under their names, each imported when it is asked for."""

from importlib import import_module
from typing import Annotated, Any

import typer

from emoscope import __version__
from emoscope.cli.result import CommandGroup

# By module and name in it: a command is imported when it is asked for.
COMMANDS = {
    "detect": "detect:detect_cli",
    "demo": "detect:demo_cli",
    "score": "score:score_cli",
    "card": "card:card_cli",
    "behaviour": "behaviour:behaviour_cli",
    "tasks": "listing:tasks",
    "systems": "listing:systems",
    "train": "train:train_cli",
    "crossvalidate": "train:crossvalidate_cli",
    "transfer": "transfer:transfer_cli",
    "predict": "train:predict_cli",
    "export": "export:export_cli",
    "verify": "evaluate:verify_cli",
    "evaluate": "evaluate:evaluate_cli",
    "compare": "evaluate:compare_cli",
    "errors": "evaluate:errors_cli",
    "human": "evaluate:human_cli",
    "serve": "serve:serve_cli",
    "doctor": "doctor:doctor_cli",
    "mcp": "mcp:mcp_cli",
    "submit": "submit:submit_cli",
}
GROUPS = {
    "data": "data:app",
    "corpus": "corpus.group:app",
    "distil": "distil:app",
    "challenge": "challenge:group",
    "keys": "keys:app",
}


def made_app(only: str | None = None) -> typer.Typer:
    """All commands, or the one command or group asked for, without importing the others.

    >>> [command.name for command in made_app("detect").registered_commands]
    ['detect']
    """
    made = CommandGroup(
        name="emoscope",
        help="Find the emotion in a conversation.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_options)
    for name in [only] if only else (*COMMANDS, *GROUPS):
        module, _, attribute = (COMMANDS | GROUPS)[name].partition(":")
        found = getattr(import_module(f"emoscope.cli.{module}"), attribute)
        if name in COMMANDS:
            made.command(name)(found)
        else:
            made.add_typer(found, name=name)
    return made


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"emoscope {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None: ...


def whole_command(only: str | None = None) -> Any:
    """The tree of commands, or one of them; a flag shows no type, since it takes no value."""
    whole = typer.main.get_command(made_app(only))
    waiting = [typer.Context(whole, **whole.context_settings)]
    while waiting:
        context = waiting.pop()
        for each in getattr(context.command, "commands", {}).values():
            waiting.append(typer.Context(each, parent=context, **each.context_settings))
        for parameter in context.command.get_params(context):
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
    return whole
