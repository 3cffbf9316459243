"""`emoscope corpus encoder`: a sentence encoder for `corpus mine`, that needs no torch from then on."""

from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.output import JsonOption, console, print_json


def encoder_cli(
    encoder: Annotated[
        str,
        typer.Argument(help="A pretrained encoder: a folder, or a name on the Hugging Face hub.", show_default=False),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="New folder for the encoder.")],
    dialogues: Annotated[
        str | None,
        typer.Option(
            help="A table of dialogues like those to come, some hundred of which show the ranges of values: weights "
            "become bytes, a quarter of the size and faster."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a pretrained sentence encoder, such as all-MiniLM-L6-v2, as graphs that run without torch."""
    from emoscope.core.extras import check_installed
    from emoscope.core.files import atomic_folder, folder_size
    from emoscope.corpus.sources.windows import sample
    from emoscope.runs.export import CALIBRATION, PACKAGES, REFERENCE
    from emoscope.tables import read_records

    check_installed(*PACKAGES, extra="train")
    from emoscope.models.export.vectors import export_vectors

    given = None
    if dialogues is not None:
        given = sample((record.dialogue for record in read_records(dialogues)), CALIBRATION, seed=1)
    with console(stderr=True).status(f"writing {encoder}"), atomic_folder(output) as part:
        export_vectors(encoder, part, reference=REFERENCE, calibration=given)
    size = folder_size(output)
    if as_json:
        print_json({"encoder": encoder, "folder": str(output), "bytes": size})
    else:
        console().print(f"{encoder}, {size / 1e6:,.1f} MB: {output}")
