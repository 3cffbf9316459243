"""Arguments and options that corpus commands share, and how their results are shown."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from emoscope.cli.output import console, print_json

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Judgements: CSV (task,worker,label), Label Studio JSON, doccano JSONL, folders of these, EmotionX JSON.",
    ),
]
DialoguesArgument = Annotated[
    str, typer.Argument(metavar="INPUT", help="Dialogues: CSV, TSV, JSONL, Parquet, text, or `-`.")
]
FormatOption = Annotated[str | None, typer.Option(help="csv, tsv, jsonl, parquet or text.")]
ColumnOption = Annotated[str | None, typer.Option(help="Column with the text, where it is not called `text`.")]
GoldOption = Annotated[Path | None, typer.Option(help="Gold questions and their answers: a CSV with task,label.")]
MinGoldOption = Annotated[
    float, typer.Option(min=0, max=1, help="Workers with a smaller share of right gold answers are refused.")
]


def show(value: object, parts: Iterable[RenderableType], *, as_json: bool, stderr: bool = False) -> None:
    """Print a result as JSON, or for a person as tables and notes with an empty line between them."""
    if as_json:
        print_json(value)
        return
    out = console(stderr=stderr)
    for number, part in enumerate(parts):
        if number:
            out.print()
        out.print(part, crop=False)


def plain(text: str) -> Text:
    """A text that is printed as it is: neither wrapped nor read as markup."""
    return Text(text, no_wrap=True, overflow="ignore")


def listed(value: str) -> list[str]:
    """The parts of an option's value, with commas between."""
    return [part.strip() for part in value.split(",") if part.strip()]
