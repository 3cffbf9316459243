"""How results are shown: tables for people, JSON for programs."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from emoscope.core.colours import COLOURS
from emoscope.core.jsonable import jsonable

T = TypeVar("T")
Rows = Iterable[Sequence[object]]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def console(*, stderr: bool = False) -> Console:
    """A console that is wide enough for tables when output goes to a file or pipe."""
    stream = sys.stderr if stderr else sys.stdout
    # COLUMNS is the user's word; without it and without a terminal rich would wrap at 80.
    width = None if stream.isatty() or "COLUMNS" in os.environ else 140
    return Console(file=stream, width=width, highlight=False)


def table(
    title: str | None, columns: Sequence[str], rows: Rows, *, left: int = 1, no_wrap: Sequence[int] = ()
) -> Table:
    """A table whose first `left` columns are text and the others numbers; those of `no_wrap` are never broken.

    >>> table("Scores", ["system", "F1"], [["nano", 0.73]]).row_count
    1
    """
    shown = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        shown.add_column(column, justify="left" if index < left else "right", overflow="fold", no_wrap=index in no_wrap)
    for row in rows:
        shown.add_row(*(_cell(value) for value in row))
    return shown


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def bars(*columns: ProgressColumn) -> Progress:
    """Progress bars on standard error, for a terminal only, and gone when done."""
    screen = console(stderr=True)
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[str, float], None]]:
    """A bar on standard error; the function it yields takes a message and the share that is done (0 to 1)."""
    with bars(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda message, done: bar.update(task, description=f"{title}: {message}", completed=done)


def progress(title: str, items: Iterable[T]) -> Iterator[T]:
    """The items of a stream of unknown length, counted on standard error as they pass, with their rate."""
    shown = TextColumn("{task.description}: {task.completed:,.0f}, {task.fields[rate]}")
    with bars(SpinnerColumn(), shown, TimeElapsedColumn()) as bar:
        task = bar.add_task(title, total=None, rate="")
        start = time.perf_counter()
        for number, item in enumerate(items, start=1):
            yield item
            if number % 500 == 0:
                rate = number / (time.perf_counter() - start)
                bar.update(task, completed=number, rate=f"{rate:,.0f} a second")


def print_json(value: object) -> None:
    """One JSON document on standard output; results may be dataclasses."""
    text = json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write((text if encodable(text) else json.dumps(jsonable(value), indent=2)) + "\n")


def encodable(text: str) -> bool:
    """Whether standard output has these characters.

    >>> encodable("plain")
    True
    """
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def coloured(label: str | None) -> str:
    """A label in its colour, as rich markup."""
    colour = COLOURS.get(label or "", "white")
    return f"[bold {colour}]{label or 'unsure'}[/]"
