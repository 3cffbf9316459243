"""`emoscope card`: what is known of a model, in a page."""

from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.output import console
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write, whole_text


def card_cli(
    model: Annotated[
        str, typer.Argument(help="`default`, `nano`, a model's folder, or a JSON file of measured results.")
    ] = "default",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the card to this file.")] = None,
) -> None:
    """Show a model's card: use and limits, scores with intervals, calibration, size and speed, training data."""
    text = _card(model)
    if output is not None:
        with atomic_write(output) as handle:
            handle.write(text)
    elif (screen := console()).is_terminal:
        from rich.markdown import Markdown

        screen.print(Markdown(text))
    else:
        typer.echo(text, nl=False)


def _card(model: str) -> str:
    from emoscope.detector.bundle import resolve
    from emoscope.evaluation.card import CARD, card_text
    from emoscope.evaluation.results import read_results

    if Path(model).suffix == ".json":
        return card_text(read_results(model))
    path = resolve(model) / CARD
    if not path.is_file():
        raise EmoscopeError(
            f"{model}: has no card; `python -m benchmarks.quality` in the source tree measures a model and makes one"
        )
    return whole_text(path)
