"""What a command answers: printed for people or, with `--json`, for programs. All commands print by this one way."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, NamedTuple

import typer
from rich.console import RenderableType
from rich.text import Text

from emoscope.cli.output import JsonOption, console, print_json


class CommandResult(NamedTuple):
    """The answer for programs, and the same for people: a line, tables and notes, or a function that prints it.

    A value of None says nothing to programs, such as where standard output is taken by what the command writes.
    """

    value: object
    shown: str | Iterable[RenderableType] | Callable[[], None]
    failed: bool = False  # a negative answer: the exit code is 1
    stderr: bool = False

    def print(self, *, as_json: bool) -> None:
        """Print it, and exit if the answer is negative."""
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
    """A text that is printed as it is: neither wrapped nor read as markup."""
    return Text(text, no_wrap=True, overflow="ignore")


class CommandGroup(typer.Typer):
    """A group of commands, of which those that return a `CommandResult` have the option `--json`, last."""

    def command(  # type: ignore[override]
        self, name: str | None = None, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        register = super().command(name, **options)
        return lambda function: register(with_json(function))


def with_json(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that returns a `CommandResult` as one that prints it, with the option `--json`; others as they are."""
    signature = inspect.signature(command)
    if signature.return_annotation is not CommandResult:
        return command

    def run(*given: Any, as_json: bool, **arguments: Any) -> None:
        result: CommandResult = command(*given, **arguments)
        result.print(as_json=as_json)

    return with_parameters(command, run, [*signature.parameters.values(), option("as_json", JsonOption, False)])


def option(name: str, annotation: object, default: object = None) -> inspect.Parameter:
    """An option to add to a command's own."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_parameters(
    command: Callable[..., Any], run: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """A function that runs a command, under its name and with its help, as typer sees it: with these parameters."""
    wrapper: Any = wraps(command)(run)
    wrapper.__signature__ = inspect.Signature(parameters)
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper  # type: ignore[no-any-return]
