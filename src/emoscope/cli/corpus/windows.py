"""`emoscope corpus windows`: three-turn dialogues from longer ones."""

from typing import Annotated

import typer

from emoscope.cli.options import SeedOption
from emoscope.cli.output import JsonOption, console, print_json, progress


def windows_cli(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Dialogues: CSV, TSV, JSONL, Parquet, text, or `-`.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; `-` for standard output.")],
    user: Annotated[
        str | None, typer.Option(help="Speaker whose turns begin and end a window; else anyone's may.")
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many, drawn at random.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl, parquet or text.")] = None,
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Cut long dialogues into windows of user, agent, user, as EmoContext did."""
    from emoscope.corpus.sources.windows import write_windows

    counts = write_windows(source, output, user=user, size=sample, seed=seed, format=format, progress=progress)
    if as_json and output != "-":
        print_json({**counts, "seed": seed})
    else:
        console(stderr=True).print(
            f"{counts['written']:,} windows into {output}, of {counts['windows']:,} in {counts['read']:,} dialogues; "
            f"{counts['without']:,} dialogues had none"
        )
