"""`emoscope corpus distant`: labelled texts without annotators, as IEST made them."""

from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.options import SeedOption
from emoscope.cli.output import JsonOption, console, print_json, progress, table


def distant_cli(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Texts: CSV, TSV, JSONL, Parquet, lines, or `-`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="New folder for train.csv, trial.csv and test.csv.")],
    column: Annotated[str | None, typer.Option(help="Column with the text, where it is not called `text`.")] = None,
    balance: Annotated[bool, typer.Option("--balance", help="As many of each emotion as of the rarest.")] = False,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl, parquet or text.")] = None,
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Label texts by the emotion word they hold, mask that word, and split 80/5/15, as IEST did."""
    from emoscope.core.emotion_words import TRIGGERS
    from emoscope.corpus.sources.distant import SPLITS, write_distant
    from emoscope.tables import read_records

    records = progress("texts", read_records(source, format, column=column, replace_surrogates=True))
    texts = (" ".join(record.dialogue.texts) for record in records)
    counts = write_distant(texts, output, seed=seed, balance=balance)
    if as_json:
        print_json({**counts.as_dict(), "seed": seed, "balanced": balance})
        return
    screen = console()
    lines: list[list[object]] = [
        [emotion, *(counts.splits[split][emotion] for split in SPLITS)] for emotion in TRIGGERS
    ]
    lines.append(["all", *(counts.splits[split].total() for split in SPLITS)])
    screen.print(table(f"{counts.kept:,} of {counts.read:,} texts, in {output}", ["emotion", *SPLITS], lines))
    screen.print()
    screen.print(table("Dropped", ["reason", "texts"], counts.dropped.most_common()))
