"""Arguments and options that corpus commands share."""

from pathlib import Path
from typing import Annotated

import typer

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
ColumnOption = Annotated[str | None, typer.Option(help="Column with the text, if it is not called `text`.")]
GoldOption = Annotated[Path | None, typer.Option(help="Gold questions and their answers: a CSV with task,label.")]
MinGoldOption = Annotated[
    float, typer.Option(min=0, max=1, help="Refuse workers whose share of correct gold answers is smaller.")
]


def listed(value: str) -> list[str]:
    """The comma-separated parts of an option's value."""
    return [part.strip() for part in value.split(",") if part.strip()]
