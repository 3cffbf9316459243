"""All commands by name; each is imported when it is needed."""

from importlib import import_module
from typing import Annotated, Any

import typer

from emoscope import __version__
from emoscope.cli.result import CommandGroup

# "module:function", under emoscope.cli
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


def build_app(only: str | None = None) -> typer.Typer:
    """The application with all commands, or with one command or group, without importing the others.

    >>> [command.name for command in build_app("detect").registered_commands]
    ['detect']
    """
    app = CommandGroup(
        name="emoscope",
        help="Find the emotion in a conversation.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in [only] if only else (*COMMANDS, *GROUPS):
        module, _, attribute = (COMMANDS | GROUPS)[name].partition(":")
        command = getattr(import_module(f"emoscope.cli.{module}"), attribute)
        if name in COMMANDS:
            app.command(name)(command)
        else:
            app.add_typer(command, name=name)
    return app


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"emoscope {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None: ...


def root_command(only: str | None = None) -> Any:
    """The click command with all subcommands, or with one; flags show no type in the help, since they take no value."""
    root = typer.main.get_command(build_app(only))
    pending = [typer.Context(root, **root.context_settings)]
    while pending:
        context = pending.pop()
        for command in getattr(context.command, "commands", {}).values():
            pending.append(typer.Context(command, parent=context, **command.context_settings))
        for parameter in context.command.get_params(context):
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
    return root
