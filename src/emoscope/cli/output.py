"""How results are shown: tables for people, JSON for programs."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, TypeVar

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markup import escape
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
from rich.text import Text

from emoscope.cli.turns import coloured, console, encodable
from emoscope.core.jsonable import jsonable

__all__ = [
    "JsonOption",
    "ProgressLines",
    "Rows",
    "bars",
    "coloured",
    "console",
    "duration",
    "encodable",
    "print_json",
    "progress",
    "progress_bar",
    "stdout_to_stderr",
    "table",
]

T = TypeVar("T")
Rows = Iterable[Sequence[object]]
_LONGEST_WORD = 40  # longer ones, such as paths, are broken
_LINE_EVERY = 10.0  # seconds between lines of progress without a terminal
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Redirect standard output to standard error, even for what native libraries print."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)
        os.close(saved)


class FittingTable(Table):
    """A table that breaks no word and no number: if the terminal is too narrow for it, its rows become a list."""

    heading: str | None = None  # plain text; rich reads its title as markup and wraps it at the width of the table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.heading:
            yield Text(self.heading, style="bold")
        spare = options.max_width - 2 * (len(self.columns) - 1) - sum(column.min_width or 0 for column in self.columns)
        if spare < 0:
            yield from self._as_list()
            return
        wanted = [
            (max(0, _longest([column.header, *column.cells], str.splitlines) - (column.min_width or 0)), number)
            for number, column in enumerate(self.columns)
        ]
        for others, (more, number) in zip(range(len(wanted) - 1, -1, -1), sorted(wanted), strict=True):
            share = min(more, spare // (others + 1))  # columns that lack little get it, the longest share the rest
            spare -= share
            self.columns[number].width = (self.columns[number].min_width or 0) + share
        yield from super().__rich_console__(console, options)

    def _as_list(self) -> RenderResult:
        names = [str(column.header) for column in self.columns]
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            facts = Table.grid(padding=(0, 2))
            facts.add_column(style="bold", no_wrap=True)
            facts.add_column(overflow="fold")
            for name, cell in zip(names, cells, strict=True):
                facts.add_row(name, cell)
            yield facts
            yield ""


def table(
    title: str | None, columns: Sequence[str], rows: Rows, *, left: int = 1, no_wrap: Sequence[int] = ()
) -> Table:
    """A table whose first `left` columns are text and the others numbers; columns in `no_wrap` are never wrapped.

    The title is plain text; columns and cells may have markup.

    >>> table("Scores", ["system", "F1"], [["nano", 0.73]]).row_count
    1
    """
    shown = FittingTable(header_style="bold", box=None, pad_edge=False)
    shown.heading = title
    cells = [[_cell(value) for value in row] for row in rows]
    for index, column in enumerate(columns):
        whole = index in no_wrap
        texts = [column, *(row[index] for row in cells)]
        width = _longest(texts, str.splitlines if whole else str.split)
        shown.add_column(
            column,
            justify="left" if index < left else "right",
            overflow="fold",
            no_wrap=whole,
            min_width=width if whole else min(width, _LONGEST_WORD),
        )
    for row in cells:
        shown.add_row(*row)
    return shown


def _longest(texts: Iterable[object], split: Callable[[str], list[str]]) -> int:
    """The width of the longest word or line."""
    return max((cell_len(part) for text in texts for part in split(Text.from_markup(str(text)).plain)), default=1)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def bars(*columns: ProgressColumn) -> Progress:
    """Progress bars on standard error, in a terminal only, removed when done."""
    screen = console(stderr=True)
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[str, float], None]]:
    """A bar on standard error; the function it yields takes a message and the finished share (0 to 1)."""
    with bars(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(escape(title), total=1.0)
        line = ProgressLines(title)

        def report(message: str, done: float) -> None:
            bar.update(task, description=escape(f"{title}: {message}"), completed=done)
            left = line.seconds * (1 - done) / done if done > 0 else None
            line.show(f"{message}, {done:.0%}" + ("" if left is None else f", {duration(left)} left"))

        yield report


def progress(title: str, items: Iterable[T]) -> Iterator[T]:
    """Pass on a stream of unknown length, and show the number of items and their rate on standard error."""
    shown = TextColumn("{task.description}: {task.completed:,.0f}, {task.fields[rate]}")
    with bars(SpinnerColumn(), shown, TimeElapsedColumn()) as bar:
        task = bar.add_task(title, total=None, rate="")
        line = ProgressLines(title)
        for number, item in enumerate(items, start=1):
            yield item
            if number % 100 == 0:
                rate = f"{number / line.seconds:,.0f} a second"
                bar.update(task, completed=number, rate=rate)
                line.show(f"{number:,}, {rate}")


class ProgressLines:
    """Lines of progress on standard error every ten seconds, if there is no terminal for a bar."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._screen = console(stderr=True)
        self._start = self._shown = time.perf_counter()

    @property
    def seconds(self) -> float:
        return max(time.perf_counter() - self._start, 1e-9)

    def show(self, text: str) -> None:
        """Print a line if the last one was at least ten seconds ago."""
        now = time.perf_counter()
        if not self._screen.is_terminal and now - self._shown >= _LINE_EVERY:
            self._shown = now
            self._screen.print(f"{self.title}: {text}", markup=False)


def duration(seconds: float) -> str:
    """A time in seconds, minutes or hours, whichever reads best.

    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def print_json(value: object) -> None:
    """One JSON document on standard output; results may be dataclasses."""
    text = json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write((text if encodable(text) else json.dumps(jsonable(value), indent=2)) + "\n")
