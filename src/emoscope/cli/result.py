"""The result of a command, printed for people or, with `--json`, for programs. All commands print this way."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.console import RenderableType
from rich.text import Text

from emoscope.cli.output import JsonOption, console, print_json
from emoscope.core.errors import EmoscopeError


class CommandResult(NamedTuple):
    """A result for programs, and the same for people: a line, tables and notes, or a function that prints them.

    A value of None prints no JSON, for commands that write their output to standard output.
    """

    value: object
    shown: str | Iterable[RenderableType] | Callable[[], None]
    failed: bool = False  # the exit code is 1
    stderr: bool = False

    def print(self, *, as_json: bool) -> None:
        """Print the result; exit with code 1 if it is negative."""
        if as_json and self.value is not None:
            print_json(self.value)
        elif isinstance(self.shown, str):
            typer.echo(self.shown, err=self.stderr)
        elif callable(self.shown):
            self.shown()
        else:
            screen = console(stderr=self.stderr)
            for number, part in enumerate(self.shown):
                if number:
                    screen.print()  # an empty line between the parts
                screen.print(part, crop=False)
        if self.failed:
            raise typer.Exit(1)


def plain(text: str) -> Text:
    """A text printed as it is, without wrapping or markup."""
    return Text(text, no_wrap=True, overflow="ignore")


class CommandGroup(typer.Typer):
    """A group of commands that adds `--json` to those that return a `CommandResult`, and takes no `-` for a path."""

    def command(  # type: ignore[override]
        self, name: str | None = None, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        register = super().command(name, **options)
        return lambda function: register(with_json(without_pipes(function)))


def with_json(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command that returns a `CommandResult`: print it, and add the option `--json`. Leave others alone."""
    signature = inspect.signature(command)
    if signature.return_annotation is not CommandResult:
        return command

    def run(*given: Any, as_json: bool, **arguments: Any) -> None:
        result: CommandResult = command(*given, **arguments)
        result.print(as_json=as_json)

    return with_parameters(command, run, [*signature.parameters.values(), option("as_json", JsonOption, False)])


def without_pipes(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command so that `-` for a path is an error; options that take `-` for a pipe are texts."""

    @wraps(command)
    def run(*given: Any, **arguments: Any) -> Any:
        for name, value in arguments.items():
            if isinstance(value, Path):
                refuse_pipe(name, value)
        return command(*given, **arguments)

    return run


def refuse_pipe(name: str, path: str | Path) -> None:
    """Raise an error if a path is `-`, which would become a file of that name."""
    if str(path) == "-":
        raise EmoscopeError(f"{name.replace('_', '-')}: expected the name of a file or folder; `-` is no pipe here")


def option(name: str, annotation: object, default: object = None) -> inspect.Parameter:
    """A further option for a command."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_parameters(
    command: Callable[..., Any], run: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Give `run` the name and the help of `command`, and the parameters that typer should see."""
    wrapper: Any = wraps(command)(run)
    wrapper.__signature__ = inspect.Signature(parameters)
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper  # type: ignore[no-any-return]
