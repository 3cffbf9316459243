"""`emoscope transfer`: how well a system trained on one corpus does on others."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.completion import complete_system
from emoscope.cli.options import DataOption, DeviceOption, SeedOption, SettingsOption, chosen_settings
from emoscope.cli.output import console, progress_bar, table
from emoscope.cli.result import CommandResult

if TYPE_CHECKING:
    from emoscope.runs.transfer import Cell, TransferMatrix


def transfer_cli(
    corpora: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CORPUS", help="Tasks, auxiliary sets or folders of corpora; by default all known ones."
        ),
    ] = None,
    system: Annotated[
        str, typer.Option("--system", "-s", help="The system to train on each.", autocompletion=complete_system)
    ] = "nano",
    limit: Annotated[
        int | None, typer.Option(min=10, help="Train and score on at most N random examples of each.")
    ] = None,
    settings: SettingsOption = None,
    mapping: Annotated[
        Path | None,
        typer.Option(help="TOML file with label mappings (tables labels.CORPUS, polarity); adds to ours."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the matrix: FILE.png, .svg, .html or .json.")] = None,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    data: DataOption = None,
) -> CommandResult:
    """Train on each corpus, evaluate on every other through a label mapping, and print the matrix."""
    from emoscope.core.plots import check_chart_file, save
    from emoscope.runs.transfer import read_mapping, transfer, transfer_chart

    if plot is not None:
        check_chart_file(plot)  # now, not after the training
    with progress_bar(f"transfer of {system}") as report:
        matrix = transfer(
            system,
            corpora or (),
            limit=limit,
            seed=seed,
            settings=chosen_settings(settings),
            mapping=read_mapping(mapping),
            device=device,
            root=data,
            report=report,
        )
    if plot is not None:
        save(transfer_chart(matrix), plot)
        console(stderr=True).print(f"drawn: {escape(str(plot))}")
    return CommandResult(matrix, partial(_print, matrix))


def _print(matrix: "TransferMatrix") -> None:
    out = console()
    names = [escape(Path(name).name) for name in matrix.corpora]
    heads = [name.replace("-", "-\n") for name in names]
    rows = [
        (shown, *(_text(matrix.cell(one, other)) for other in matrix.corpora))
        for shown, one in zip(names, matrix.corpora, strict=True)
    ]
    title = f"{matrix.system}, macro-F1: trained on (rows), evaluated on (columns)"
    out.print(table(title, ["", *heads], rows, no_wrap=(0,)))
    learnt = ", ".join(f"{name} {matrix.trained[of]:,}" for name, of in zip(names, matrix.corpora, strict=True))
    out.print(
        "Over the labels that both have, with the share of what training within the evaluated corpus gives on "
        f"the same items and labels. Examples learnt: {learnt}.",
        style="dim",
    )
    for name, of in zip(names, matrix.corpora, strict=True):
        meant = ", ".join(f"{escape(label)} = {emotion}" for label, emotion in matrix.mapping[of].items())
        out.print(f"{name}: {meant}", style="dim", soft_wrap=True)


def _text(cell: "Cell") -> str | None:
    if cell.score is None or cell.within is None:
        return None
    share = f" {cell.score / cell.within:.0%}" if cell.trained_on != cell.evaluated_on and cell.within else ""
    return f"{cell.score:.2f}{share}"
