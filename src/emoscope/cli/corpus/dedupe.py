"""`emoscope corpus dedupe`: tables without exact and near copies."""

from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.options import EngineOption, RayAddressOption, WorkersOption, chosen_executor
from emoscope.cli.output import JsonOption, console, print_json, progress, table


def dedupe_cli(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Tables of dialogues; rows of later ones go, so give the test set first."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; for several files, a new folder.")],
    threshold: Annotated[
        float, typer.Option(min=0.5, max=1.0, help="Share of character n-grams that makes a near copy.")
    ] = 0.8,
    group: Annotated[
        str | None, typer.Option(help="Column that a row and its back-translations have in common.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="Column with the text to compare.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl, parquet or text.")] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop rows that are copies of earlier ones, also of another file and of a back-translation."""
    from emoscope.corpus.dedupe.deduplicate import REASONS, deduplicate

    counts = deduplicate(
        files,
        output,
        threshold=threshold,
        group=group,
        column=column,
        format=format,
        progress=progress,
        executor=chosen_executor(engine, workers, ray_address),
    )
    if as_json:
        print_json({"threshold": threshold, "files": {path: count.as_dict() for path, count in counts.items()}})
        return
    rows = [
        [Path(path).name, count.read, count.kept, *(count.dropped[reason] for reason in REASONS)]
        for path, count in counts.items()
    ]
    console().print(table(f"Written to {output}", ["file", "read", "kept", *REASONS], rows))
