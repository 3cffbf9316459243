"""The argument for annotation files."""

from pathlib import Path
from typing import Annotated

import typer

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Judgements: CSV (task,worker,label), Label Studio JSON, doccano JSONL, folders of these, EmotionX JSON.",
        show_default=False,
    ),
]
