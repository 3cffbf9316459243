"""`emoscope card`: what is known about a model, on one page."""

from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.output import JsonOption, console
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import check_other_file, whole_text, write_file
from emoscope.evaluation.card import CARD, CARD_JSON, card_text
from emoscope.evaluation.results import read_results


def card_cli(
    model: Annotated[
        str, typer.Argument(help="`default`, `open`, `nano`, a model's folder, or a JSON file of measured results.")
    ] = "default",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the card to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a model's card: terms, use and limits, scores with intervals, calibration, size, speed, training data."""
    if output is not None:
        check_other_file(output, model)
    text = _card(model, as_json=as_json)
    if output is not None:
        write_file(output, text)
    elif (screen := console()).is_terminal and not as_json:
        from rich.markdown import Markdown

        screen.print(Markdown(text))
    else:
        typer.echo(text, nl=False)


def _card(model: str, *, as_json: bool) -> str:
    from emoscope.detector.bundle import resolve

    if Path(model).suffix == ".json":
        results = read_results(model)
        return results.model_dump_json(exclude_none=True) + "\n" if as_json else card_text(results)
    path = resolve(model) / (CARD_JSON if as_json else CARD)
    if not path.is_file():
        raise EmoscopeError(
            f"{model}: has no card; `python -m benchmarks.quality` in the source tree measures a model and writes one"
        )
    return whole_text(path)
