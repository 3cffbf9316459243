"""`emoscope corpus filter`: drop offence, sensitive topics, personal data and other languages."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from emoscope.cli.options import EngineOption, RayAddressOption, WorkersOption, chosen_executor
from emoscope.cli.output import JsonOption, console, print_json, progress, table

if TYPE_CHECKING:
    from emoscope.corpus.filters.table import TableReport


def filter_cli(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Dialogues: CSV, TSV, JSONL, Parquet, text, or `-`.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="New folder for kept dialogues, dropped.jsonl and report.json.")
    ],
    offensive: Annotated[Literal["drop", "off"], typer.Option(help="Dialogues with an offensive turn.")] = "drop",
    threshold: Annotated[
        float | None, typer.Option(min=0.01, max=1.0, help="Score from which a turn is offensive; else the model's.")
    ] = None,
    sensitive: Annotated[
        str, typer.Option(help="Topics to drop, such as self-harm,violence; `all` of them, or `off`.")
    ] = "all",
    personal: Annotated[
        Literal["drop", "mask", "off"], typer.Option(help="Dialogues with personal data: drop them, or mask the data.")
    ] = "drop",
    kinds: Annotated[
        str | None, typer.Option(help="Personal data to look for, such as email,phone,name; otherwise every kind.")
    ] = None,
    language: Annotated[
        str, typer.Option(help="Languages to keep, such as en or en,es,en+es (mixed); `off` keeps all.")
    ] = "en",
    column: Annotated[str | None, typer.Option(help="Column with the text, where it is not called `text`.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, tsv, jsonl, parquet or text.")] = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop offence, sensitive topics, personal data and other languages, with a reason for each dropped row.

    A run that was stopped resumes where it was when it is started again.
    """
    from emoscope.corpus.filters.sensitive import Topic
    from emoscope.corpus.filters.spans import Kind
    from emoscope.corpus.filters.standard import standard_filters
    from emoscope.corpus.filters.table import filter_table

    filters = standard_filters(
        languages=None if language == "off" else _listed(language),
        offensive=offensive == "drop",
        threshold=threshold,
        topics={"all": tuple(Topic), "off": None}.get(sensitive, _listed(sensitive)),
        personal=personal,
        kinds=tuple(Kind) if kinds is None else _listed(kinds),
    )
    report = filter_table(
        source,
        output,
        filters,
        column=column,
        format=format,
        progress=progress,
        executor=chosen_executor(engine, workers, ray_address),
    )
    if as_json:
        print_json(asdict(report))
    else:
        _show(report, output)


def _listed(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _show(report: "TableReport", output: Path) -> None:
    screen = console()
    rows: list[list[object]] = []
    for name, counts in report.filters.items():
        rows += [[name, f"dropped: {reason}", number] for reason, number in counts.dropped.items()]
        rows += [[name, f"masked: {kind}", number] for kind, number in counts.masked.items()]
        if not counts.dropped and not counts.masked:
            rows.append([name, "nothing found", 0])
    title = (
        f"{report.kept:,} of {report.read:,} dialogues kept in {output / report.file}, {report.changed:,} with masks"
    )
    screen.print(table(title, ["filter", "what", "number"], rows, left=2))
    screen.print("A dialogue may be dropped for several reasons: dropped.jsonl has them; report.json, the error rates.")
