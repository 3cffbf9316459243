"""`emoscope export`: a trained neural system as a model that runs without torch."""

from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.options import DataOption
from emoscope.cli.output import JsonOption, console, print_json
from emoscope.core.files import folder_size


def export_cli(
    run: Annotated[Path, typer.Argument(help="A run's folder, of a neural system or an ensemble.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the model.")],
    int8: Annotated[
        bool, typer.Option("--int8/--fp32", help="Weights as bytes, a quarter of the size and faster; or as they are.")
    ] = True,
    dialogues: Annotated[
        str | None,
        typer.Option(
            help="A table of dialogues like those to come, from which the ranges of values are learnt; the task's "
            "training data if not given."
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop the pieces of words that the dialogues do not use.")
    ] = False,
    data: DataOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is there already.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a run as a model that `emoscope.load` and `emoscope detect --model` take, without torch."""
    from emoscope.runs.export import export_run
    from emoscope.tables import read_records

    given = [record.dialogue for record in read_records(dialogues)] if dialogues is not None else None
    with console(stderr=True).status(f"exporting {run}"):
        bundle = export_run(run, output, int8=int8, dialogues=given, prune=prune, root=data, force=force)
    size = folder_size(output)
    if as_json:
        print_json({"name": bundle.name, "task": bundle.task, "folder": str(output), "bytes": size})
    else:
        console().print(f"{bundle.name} for {bundle.task}, {size / 1e6:,.1f} MB: {output}")
