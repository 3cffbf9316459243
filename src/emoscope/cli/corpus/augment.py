"""`emoscope corpus augment`: paraphrases of every turn by back-translation."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.corpus.options import listed
from emoscope.cli.options import naming_column
from emoscope.cli.output import progress, table
from emoscope.cli.result import CommandResult, plain
from emoscope.core.counts import counted
from emoscope.corpus.augment.augment import augment_file
from emoscope.corpus.augment.backtranslation import REASONS
from emoscope.corpus.augment.engines import DEFAULT_VIA, EngineName, open_engine


@naming_column()
def augment_cli(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="Dialogues: EmotionX's JSON, CSV, TSV, JSONL or Parquet.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; the same name resumes an interrupted run.")
    ],
    engine: Annotated[EngineName, typer.Option(help="Translation engine.")],
    via: Annotated[
        str | None, typer.Option(help="Pivot languages, such as es,ca; the default depends on the engine.")
    ] = None,
    similarity: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Drop variants that are less similar to the original than this."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Folder from `emoscope corpus encoder` to measure similarity with, instead of character n-grams."
        ),
    ] = None,
    keep_all: Annotated[
        bool,
        typer.Option(
            "--keep-all", help="Keep every variant, even those that repeat the original, as EmotionX's files do."
        ),
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="For marian: folders or hub names, with {source} and {target} in them.")
    ] = None,
    beam_size: Annotated[
        int | None,
        typer.Option(min=1, help="For marian: beam size, by default 4; 1 is four times as fast."),
    ] = None,
    column: Annotated[str | None, typer.Option(help="Column with the text to translate.")] = None,
    format: Annotated[str | None, typer.Option(help="Format of the input: csv, tsv, jsonl or parquet.")] = None,
) -> CommandResult:
    """Add back-translations of every turn, by default without those that repeat it or change its meaning."""
    counts = augment_file(
        source,
        output,
        open_engine(engine, model, beam_size),
        listed(via or DEFAULT_VIA[engine]),
        similarity=similarity,
        encoder=encoder,
        keep_all=keep_all,
        column=column,
        format=format,
        progress=progress,
    )
    languages = counts.via.values()
    rows: list[list[object]] = [["kept", *(each.kept for each in languages)]]
    for reason in REASONS:
        dropped = [each.dropped[reason] for each in languages]
        if any(dropped):
            rows.append([f"dropped: {reason}", *dropped])
    turns = f"{counted(counts.turns, 'turn')} of {counted(counts.dialogues, 'dialogue')}"
    summary = f"Wrote {turns}, with their variants, to {output}"
    variants = table(None, ["variants", *counts.via], rows)
    return CommandResult({"engine": engine, **asdict(counts)}, [plain(summary), variants])
