"""`emoscope corpus collect`: dialogues from what chat programs export."""

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from emoscope.cli.output import JsonOption, console, counted, print_json, table

ChatFormat = Literal["whatsapp", "telegram", "slack", "discord"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("collect")(collect_cli)


def collect_cli(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Exports of one kind; Slack's are folders.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, such as logs.jsonl; `-` for a pipe.")],
    format: Annotated[ChatFormat, typer.Option("--format", help="What exported them.")],
    gap_minutes: Annotated[
        float, typer.Option("--gap-minutes", min=0, help="A longer silence ends a dialogue.")
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Read chat exports into dialogues, with their speakers."""
    counts = collect(files, output, format=format, gap_minutes=gap_minutes)
    if as_json and output != "-":
        print_json(counts)
        return
    screen = console(stderr=True)
    screen.print(f"{counts['dialogues']:,} dialogues of {counts['turns']:,} turns into {output}")
    if counts["left_out"]:
        screen.print(table("Left out", ["entries", "number"], list(counts["left_out"].items())))


def collect(files: list[Path], output: str, *, format: ChatFormat, gap_minutes: float = 60.0) -> dict[str, Any]:
    """Write the dialogues of all files; returns the counts."""
    from emoscope.corpus.sources.exports import read_chat
    from emoscope.tables import open_writer

    left_out: Counter[str] = Counter()
    dialogues = turns = 0
    with open_writer(output) as writer:
        for file in files:
            found = read_chat(file, format, gap=timedelta(minutes=gap_minutes), dropped=left_out)
            with counted(file.name, found) as passing:
                for dialogue in passing:
                    dialogues += 1
                    turns += len(dialogue)
                    said = [{"speaker": turn.speaker, "text": turn.text} for turn in dialogue.turns]
                    writer.write({"id": dialogue.id, "turns": said})
    return {"dialogues": dialogues, "turns": turns, "left_out": {str(one): left_out[one] for one in sorted(left_out)}}
