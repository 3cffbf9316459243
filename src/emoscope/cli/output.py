"""How results are shown: a table for people, JSON for programs, one line for mistakes."""

import json
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from emoscope.colours import COLOURS

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def console(*, stderr: bool = False) -> Console:
    """A console that is wide enough for tables when output goes to a file or pipe."""
    stream = sys.stderr if stderr else sys.stdout
    # COLUMNS is the user's word; without it and without a terminal rich would wrap at 80.
    width = None if stream.isatty() or "COLUMNS" in os.environ else 140
    return Console(file=stream, width=width, highlight=False)


def table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[object]], *, left: int = 1) -> Table:
    """A table whose first `left` columns are text and the others numbers.

    >>> table("Scores", ["system", "F1"], [["nano", 0.73]]).row_count
    1
    """
    made = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        made.add_row(*(_cell(value) for value in row))
    return made


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def coloured(label: str | None) -> str:
    """A label in its colour, as rich markup."""
    colour = COLOURS.get(label or "", "white")
    return f"[bold {colour}]{label or 'unsure'}[/]"
