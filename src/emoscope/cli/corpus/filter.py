"""`emoscope corpus filter`: dialogues without offence, sensitive topics, personal data and other languages."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emoscope.cli.options import EngineOption, RayAddressOption, WorkersOption, chosen_spread
from emoscope.cli.output import JsonOption, console, counted, print_json, table

if TYPE_CHECKING:
    from emoscope.corpus.filters.review import DialogueFilter
    from emoscope.corpus.filters.table import Report
    from emoscope.tables import Record


class Personal(StrEnum):
    """What becomes of personal data."""

    drop = "drop"
    mask = "mask"
    off = "off"


class Offensive(StrEnum):
    """What becomes of offensive dialogues."""

    drop = "drop"
    off = "off"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("filter")(filter_cli)


def filter_cli(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Dialogues: CSV, TSV, JSONL, Parquet, text, or `-`.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="New folder for kept dialogues, dropped.jsonl and report.json.")
    ],
    offensive: Annotated[Offensive, typer.Option("--offensive", help="Dialogues with an offensive turn.")] = (
        Offensive.drop
    ),
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", min=0.01, max=1.0, help="Score from which a turn is offensive; else the model's."),
    ] = None,
    sensitive: Annotated[
        str,
        typer.Option("--sensitive", help="Topics to drop, such as self-harm,violence; `all` of them, or `off`."),
    ] = "all",
    personal: Annotated[
        Personal, typer.Option("--personal", help="Dialogues with personal data: drop them, or mask the data.")
    ] = Personal.drop,
    kinds: Annotated[
        str | None,
        typer.Option("--kinds", help="Personal data to look for, such as email,phone,name; otherwise every kind."),
    ] = None,
    language: Annotated[
        str,
        typer.Option("--language", help="Languages to keep, such as en or en,es,en+es (mixed); `off` keeps all."),
    ] = "en",
    column: Annotated[
        str | None, typer.Option("--column", help="Column with the text, where it is not called `text`.")
    ] = None,
    format: Annotated[str | None, typer.Option("--format", help="csv, tsv, jsonl, parquet or text.")] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop offence, sensitive topics, personal data and other languages, with a reason for each row that goes.

    A run that was stopped goes on where it was when it is started again.
    """
    from emoscope.corpus.filters.table import filter_table

    spread = chosen_spread(engine, workers, ray_address)
    filters = chosen_filters(offensive, personal, language, sensitive=sensitive, threshold=threshold, kinds=kinds)
    report = filter_table(source, output, filters, column=column, format=format, watch=_watched, spread=spread)
    if as_json:
        print_json(report.as_dict())
    else:
        _show(report, output)


def chosen_filters(
    offensive: Offensive = Offensive.drop,
    personal: Personal = Personal.drop,
    language: str = "en",
    *,
    sensitive: str = "all",
    threshold: float | None = None,
    kinds: str | None = None,
) -> "list[DialogueFilter]":
    """The filters that the options ask for; masking comes last, so that the others see what was said."""
    from emoscope.corpus.filters.language import LanguageFilter
    from emoscope.corpus.filters.offensive import OffensiveFilter
    from emoscope.corpus.filters.personal import PersonalFilter
    from emoscope.corpus.filters.sensitive import SensitiveFilter
    from emoscope.models.linear.offensive import OffensiveModel

    filters: list[DialogueFilter] = []
    if language != "off":
        filters.append(LanguageFilter(_listed(language)))
    if offensive is Offensive.drop:
        model = OffensiveModel.load()
        filters.append(OffensiveFilter(model, threshold=model.threshold if threshold is None else threshold))
    if sensitive != "off":
        filters.append(SensitiveFilter() if sensitive == "all" else SensitiveFilter(_listed(sensitive)))
    if personal is not Personal.off:
        named = {} if kinds is None else {"kinds": _listed(kinds)}
        filters.append(PersonalFilter(mask=personal is Personal.mask, **named))
    return filters


def _listed(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _watched(records: "Iterator[Record]") -> "Iterator[Record]":
    with counted("dialogues", records) as passing:
        yield from passing


def _show(report: "Report", output: Path) -> None:
    screen = console()
    rows: list[list[object]] = []
    for name, counts in report.filters.items():
        rows += [[name, f"dropped: {reason}", number] for reason, number in sorted(counts.dropped.items())]
        rows += [[name, f"masked: {kind}", number] for kind, number in sorted(counts.masked.items())]
        if not counts.dropped and not counts.masked:
            rows.append([name, "nothing found", 0])
    title = (
        f"{report.kept:,} of {report.read:,} dialogues kept in {output / report.file}, {report.changed:,} with masks"
    )
    screen.print(table(title, ["filter", "what", "number"], rows, left=2))
    screen.print("A dialogue may be dropped for several reasons: dropped.jsonl has them; report.json, the error rates.")
