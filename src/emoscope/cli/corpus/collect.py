"""`emoscope corpus collect`: dialogues from chat exports."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.output import JsonOption, console, print_json, progress, table
from emoscope.corpus.sources.exports import ChatFormat, collect_chats


def collect_cli(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Exports of one kind; Slack's are folders.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, such as logs.jsonl; `-` for a pipe.")],
    format: Annotated[ChatFormat, typer.Option(help="What exported them.")],
    gap_minutes: Annotated[float, typer.Option(min=0, help="A longer silence ends a dialogue.")] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Read chat exports into dialogues, with their speakers."""
    counts = collect_chats(files, output, format=format, gap=timedelta(minutes=gap_minutes), progress=progress)
    if as_json and output != "-":
        print_json(counts)
        return
    screen = console(stderr=True)
    screen.print(f"{counts['dialogues']:,} dialogues of {counts['turns']:,} turns into {output}")
    if counts["left_out"]:
        screen.print(table("Left out", ["entries", "number"], list(counts["left_out"].items())))
