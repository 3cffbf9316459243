"""All commands by name; each is imported when it is needed."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from emoscope import __version__
from emoscope.cli.result import CommandGroup
from emoscope.core.errors import Interrupted

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
    "corpus build": "corpus.build:build_cli",
    "corpus example": "corpus.build:example_cli",
    "corpus collect": "corpus.sources:collect_cli",
    "corpus sample": "corpus.sources:sample_cli",
    "corpus windows": "corpus.sources:windows_cli",
    "corpus dedupe": "corpus.cleaning:dedupe_cli",
    "corpus distant": "corpus.sources:distant_cli",
    "corpus filter": "corpus.cleaning:filter_cli",
    "corpus encoder": "corpus.mining:encoder_cli",
    "corpus seeds": "corpus.mining:seeds_cli",
    "corpus mine": "corpus.mining:mine_cli",
    "corpus agreement": "corpus.judgements:agreement",
    "corpus aggregate": "corpus.judgements:aggregate",
    "corpus augment": "corpus.augment:augment_cli",
    "corpus annotate": "corpus.annotate:annotate",
    "corpus annotate-export": "corpus.annotate:annotate_export",
    "corpus annotate-import": "corpus.annotate:annotate_import",
    "corpus annotate-revoke": "corpus.annotate:annotate_revoke",
    "corpus human-study": "corpus.judgements:human_study",
    "corpus human-sample": "corpus.judgements:human_sample",
}
GROUPS = {"data": "data:app", "distil": "distil:app", "challenge": "challenge:group", "keys": "keys:app"}


class _Root(TyperGroup):
    """Leaves Ctrl-C, closed pipes and full disks to `emoscope.cli.main`."""

    def invoke(self, ctx: Any) -> Any:
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except KeyboardInterrupt:
            raise Interrupted from None
        except BrokenPipeError:
            raise BrokenPipeError from None  # without a number, which typer would answer with exit code 1


def build_app(words: Sequence[str] = ()) -> typer.Typer:
    """The application with the command or group that these words begin with, or else with all commands.

    Only the modules of those commands are imported.

    >>> [command.name for command in build_app(["detect", "hello"]).registered_commands]
    ['detect']
    """
    app = CommandGroup(
        name="emoscope",
        cls=_Root,
        help="Find the emotion in a conversation.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    corpus = CommandGroup(help="Make a labelled corpus from raw logs.", no_args_is_help=True)
    every = COMMANDS | GROUPS
    chosen = [name for name in every if name.split() == list(words[: len(name.split())])]
    for name in chosen or [name for name in every if name.split()[:1] == list(words[:1])] or every:
        module, _, attribute = every[name].partition(":")
        command = getattr(import_module(f"emoscope.cli.{module}"), attribute)
        if name in GROUPS:
            app.add_typer(command, name=name)
        elif name.startswith("corpus "):
            if not corpus.registered_commands:
                app.add_typer(corpus, name="corpus")
            corpus.command(name.removeprefix("corpus "))(command)
        else:
            app.command(name)(command)
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


def root_command(words: Sequence[str] = ()) -> Any:
    """The click command of `build_app`, and its help as people read it."""
    root = typer.main.get_command(build_app(words))
    pending = [typer.Context(root, **root.context_settings)]
    while pending:
        context = pending.pop()
        for command in getattr(context.command, "commands", {}).values():
            pending.append(typer.Context(command, parent=context, **command.context_settings))
        if context.command.help:  # lines are as long as the terminal, not as in the source
            context.command.help = "\n\n".join(" ".join(part.split()) for part in context.command.help.split("\n\n"))
        for parameter in context.command.get_params(context):
            if getattr(parameter, "is_flag", False):  # takes no value, so it has no type
                parameter.metavar = ""
    return root
