"""`emoscope export`: a trained neural system as a model that runs without torch."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from emoscope.cli.options import DataOption
from emoscope.cli.output import console
from emoscope.cli.result import CommandResult
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import folder_size
from emoscope.tables import read_records


def export_cli(
    run: Annotated[
        Path,
        typer.Argument(help="Folder of a run of a neural system or ensemble; for transformers also of a student."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the model.")],
    to: Annotated[
        str,
        typer.Option(
            help="`emoscope`, or `transformers`: a Hugging Face folder with config, tokenizer and model card."
        ),
    ] = "emoscope",
    labels: Annotated[str | None, typer.Option(help="For transformers: which of a student's label sets.")] = None,
    int8: Annotated[
        bool, typer.Option("--int8/--fp32", help="8-bit weights, a quarter of the size and faster; or 32-bit floats.")
    ] = True,
    dialogues: Annotated[
        str | None,
        typer.Option(
            help="A table of dialogues like the ones to be labelled, to calibrate 8-bit weights; by default the task's "
            "training data."
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop word pieces that do not occur in the dialogues.")
    ] = False,
    data: DataOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model.")] = False,
) -> CommandResult:
    """Write a run as a model for `emoscope.load` and `emoscope detect --model` that needs no torch.

    With `--to transformers`, write a folder that Hugging Face's library loads.
    """
    if to not in ("emoscope", "transformers"):
        raise EmoscopeError(f"--to: expected emoscope or transformers, found {to!r}")
    if to == "transformers":
        from emoscope.runs.transformers_folder import save_for_transformers

        names = save_for_transformers(run, output, labels=labels, force=force)
        text = f"{output}: {', '.join(names)}; its README.md says how to use it"
        return CommandResult({"output": output, "labels": names}, text)
    from emoscope.runs.export import export_run

    given = [record.dialogue for record in read_records(dialogues)] if dialogues is not None else None
    with console(stderr=True).status(escape(f"exporting {run}")):
        bundle = export_run(run, output, int8=int8, dialogues=given, prune=prune, root=data, force=force)
    size = folder_size(output)
    value = {"name": bundle.name, "task": bundle.task, "folder": output, "bytes": size}
    return CommandResult(value, f"{bundle.name} for {bundle.task}, {size / 1e6:,.1f} MB: {output}")
