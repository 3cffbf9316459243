"""`emoscope corpus agreement`: how well annotators agree, with intervals."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from emoscope.cli.corpus.files import FilesArgument, print_parts
from emoscope.cli.options import SeedOption
from emoscope.cli.output import JsonOption, coloured, print_json, table

if TYPE_CHECKING:
    from emoscope.core.significance import Interval
    from emoscope.corpus.annotation.agreement_report import Agreement

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
    from emoscope.corpus.annotation.panel import read_panel

    panel = read_panel(files)
    agreed = measure_agreement(panel.votes.values(), panel.judgements, samples=samples, seed=seed)
    if as_json:
        print_json(asdict(agreed))
        return
    print_parts(tables(agreed))


def tables(agreed: "Agreement") -> Iterator[RenderableType]:
    """The results for a person."""
    pairwise = agreed.pairwise
    rows = [
        ["Fleiss' kappa", agreed.fleiss_kappa, _range(agreed.interval)],
        ["Krippendorff's alpha", agreed.krippendorff_alpha, _range(agreed.krippendorff_alpha_interval)],
        ["pairs of votes that agree", pairwise.agreement, _range(pairwise.interval)],
    ]
    if pairwise.pairs:
        rows.append(["Cohen's kappa, mean of pairs", pairwise.cohen_kappa, ""])
    yield table(f"Agreement on {agreed.items:,} items", ["measure", "value", "95 % interval"], rows)
    if agreed.left_out:
        yield f"left out for fewer than two votes: {agreed.left_out:,}"
    per_class = [
        [coloured(escape(label)), agreed.votes[label], kappa, _range(agreed.per_class_interval[label])]
        for label, kappa in agreed.per_class.items()
    ]
    yield table("Fleiss' kappa per class", ["class", "votes", "kappa", "95 % interval"], per_class)
    if pairwise.pairs:
        pairs = [
            [*map(escape, pair.workers), pair.items, pair.agreement, pair.kappa, _range(pair.interval)]
            for pair in pairwise.pairs[:_PAIRS_SHOWN]
        ]
        more = len(pairwise.pairs) - _PAIRS_SHOWN
        title = "Pairs of annotators" + (f" ({more:,} more in --json)" if more > 0 else "")
        yield table(title, ["one", "other", "items", "agree", "Cohen's kappa", "95 % interval"], pairs, left=2)


def _range(interval: "Interval | None") -> str:
    return "" if interval is None else f"{interval.low:.4f} to {interval.high:.4f}"
