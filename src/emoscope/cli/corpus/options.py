"""Arguments and options that corpus commands share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from emoscope.core.errors import EmoscopeError

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
GoldAnswersOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Refuse by the plain share once a worker has this many gold answers, instead of by a sequential test.",
    ),
]
PoolArgument = Annotated[str, typer.Argument(help="Dialogues: CSV, TSV, JSONL, Parquet or text.")]
PoolFormatOption = Annotated[str | None, typer.Option(help="Format of the pool: csv, tsv, jsonl, parquet or text.")]
StudyArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="The study's folder.")]


def listed(value: str) -> list[str]:
    """The comma-separated parts of an option's value."""
    return [part.strip() for part in value.split(",") if part.strip()]


def check_goes_with(other: str, changed: Mapping[str, bool]) -> None:
    """Refuse options that have no effect without another one, which was not given."""
    for option, was_changed in changed.items():
        if was_changed:
            raise EmoscopeError(f"{option} goes with {other}")
