"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

TaskOption = Annotated[
    str, typer.Option("--task", "-t", help="Task name (`emoscope tasks` lists them), or the folder of a corpus.")
]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", envvar="EMOSCOPE_DATA", help="Folder with the tasks' data, instead of the download cache."),
]
HtmlOption = Annotated[Path | None, typer.Option("--html", help="Also write a self-contained HTML report here.")]
SeedOption = Annotated[
    int, typer.Option("--seed", help="Seed of everything random; the same seed gives the same result.")
]
