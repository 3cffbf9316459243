"""What commands about annotation files share: their argument, and how results are shown."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from emoscope.cli.output import console

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Judgements: CSV (task,worker,label), Label Studio JSON, doccano JSONL, folders of these, EmotionX JSON.",
        show_default=False,
    ),
]


def print_parts(parts: Iterable[RenderableType], output: Path | None = None) -> None:
    """Print tables and notes with an empty line after each, then the file that was written."""
    out = console()
    for part in parts:
        out.print(part)
        out.print()
    if output is not None:
        out.print(f"wrote {output}", markup=False, soft_wrap=True)
