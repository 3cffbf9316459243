"""`emoscope corpus windows`: three-turn dialogues from longer ones."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emoscope.cli.options import SeedOption
from emoscope.cli.output import JsonOption, console, counted, print_json
from emoscope.core.errors import EmoscopeError

if TYPE_CHECKING:
    from emoscope.core.dialogue import Dialogue
    from emoscope.tables import Record


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("windows")(windows_cli)


def windows_cli(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Dialogues: CSV, TSV, JSONL, Parquet, text, or `-`.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; `-` for standard output.")],
    user: Annotated[
        str | None, typer.Option("--user", help="Speaker whose turns begin and end a window; else anyone's may.")
    ] = None,
    sample: Annotated[int | None, typer.Option("--sample", min=1, help="Only so many, drawn at random.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="csv, tsv, jsonl, parquet or text.")] = None,
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Cut long dialogues into windows of user, agent, user, as EmoContext did."""
    counts = write_windows(source, output, user=user, size=sample, seed=seed, format=format)
    if as_json and output != "-":
        print_json({**counts, "seed": seed})
    else:
        console(stderr=True).print(
            f"{counts['written']:,} windows into {output}, of {counts['windows']:,} in {counts['read']:,} dialogues; "
            f"{counts['without']:,} dialogues had none"
        )


def write_windows(
    source: str,
    output: str,
    *,
    user: str | None = None,
    size: int | None = None,
    seed: int = 1,
    format: str | None = None,
) -> dict[str, int]:
    """Cut every dialogue of a file, and write all windows or a sample of them; returns the counts."""
    from emoscope.core.dialogue import Dialogue
    from emoscope.corpus.sources import windows
    from emoscope.tables import PIPE, open_writer, read_records

    if PIPE not in (source, output) and Path(source).resolve() == Path(output).resolve():
        raise EmoscopeError(f"{output}: is the input itself; write to another file")
    counts = {"read": 0, "without": 0, "windows": 0, "written": 0}

    def cut(record: "Record") -> "Iterator[Dialogue]":
        name = record.columns.get("id")
        whole = Dialogue(record.dialogue.turns, str(record.row if name is None else name))
        found = list(windows.windows(whole, user=user))
        counts["read"] += 1
        counts["without"] += not found
        counts["windows"] += len(found)
        return iter(found)

    with open_writer(output) as writer, counted("dialogues", read_records(source, format)) as records:
        everything = chain.from_iterable(map(cut, records))
        for window in everything if size is None else windows.sample(everything, size, seed=seed):
            turns = {f"turn{number}": text for number, text in enumerate(window.texts, start=1)}
            writer.write({"id": window.id, **turns})
            counts["written"] += 1
    return counts
