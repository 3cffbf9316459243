"""`emoscope corpus agreement`: how well annotators agree, with intervals."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.corpus.files import FilesArgument, read_panel
from emoscope.cli.options import SeedOption
from emoscope.cli.output import JsonOption, coloured, console, print_json, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from emoscope.corpus.annotation.agreement_report import Agreement, Measured

_PAIRS_SHOWN = 15


def agreement(
    files: FilesArgument,
    samples: Annotated[int, typer.Option(min=1, help="Resamples of the items behind each interval.")] = 2_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Fleiss' kappa overall and per class, Krippendorff's alpha and the agreement of pairs, over all files together.

    Items may have different numbers of judges. Intervals are 95 %, from resampling the items.
    """
    from emoscope.corpus.annotation.agreement_report import measure_agreement

    panel = read_panel(files)
    found = measure_agreement(panel.votes.values(), panel.judgements, samples=samples, seed=seed)
    if as_json:
        print_json(found.as_dict())
        return
    out = console()
    for part in tables(found):
        out.print(part)
        out.print()


def tables(found: "Agreement") -> "Iterator[RenderableType]":
    """What a person is shown."""
    rows = [
        ["Fleiss' kappa", *_cells(found.fleiss_kappa)],
        ["Krippendorff's alpha", *_cells(found.krippendorff_alpha)],
        ["pairs of votes that agree", *_cells(found.pairwise)],
    ]
    if found.pairs:
        rows.append(["Cohen's kappa, mean of pairs", found.mean_pair_kappa, ""])
    yield table(f"Agreement on {found.items:,} items", ["measure", "value", "95 % interval"], rows)
    if found.left_out:
        yield f"left out for fewer than two votes: {found.left_out:,}"
    per_class = [
        [coloured(escape(label)), found.votes[label], *_cells(measured)] for label, measured in found.per_class.items()
    ]
    yield table("Fleiss' kappa per class", ["class", "votes", "kappa", "95 % interval"], per_class)
    if found.pairs:
        pairs = [
            [escape(pair.workers[0]), escape(pair.workers[1]), pair.items, pair.agreement, *_cells(pair.kappa)]
            for pair in found.pairs[:_PAIRS_SHOWN]
        ]
        more = len(found.pairs) - _PAIRS_SHOWN
        title = "Pairs of annotators" + (f" ({more:,} more in --json)" if more > 0 else "")
        yield table(title, ["one", "other", "items", "agree", "Cohen's kappa", "95 % interval"], pairs, left=2)


def _cells(measured: "Measured") -> tuple[float | None, str]:
    interval = measured.interval
    return measured.value, "" if interval is None else f"{interval.low:.4f} to {interval.high:.4f}"
