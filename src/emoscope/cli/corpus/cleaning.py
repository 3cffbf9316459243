"""`emoscope corpus dedupe` and `filter`: drop what does not belong in a corpus."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text

from emoscope.cli.corpus.options import ColumnOption, DialoguesArgument, FormatOption, listed
from emoscope.cli.options import EngineOption, RayAddressOption, WorkersOption, chosen_executor, naming_column
from emoscope.cli.output import progress, table
from emoscope.cli.result import CommandResult, plain
from emoscope.core.counts import counted
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.dedupe.deduplicate import REASONS, deduplicate
from emoscope.corpus.filters.review import REVIEW
from emoscope.corpus.filters.spans import Kind
from emoscope.tables import PIPE, read_records

if TYPE_CHECKING:
    from emoscope.corpus.filters.table import TableReport


@naming_column()
def dedupe_cli(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Tables of dialogues. Copies are dropped from the later files, so give the test set first.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write, or `-`; for several files, a new folder.")
    ],
    threshold: Annotated[
        float,
        typer.Option(min=0.5, max=1.0, help="Share of common character n-grams from which rows count as near copies."),
    ] = 0.8,
    group: Annotated[
        str | None, typer.Option(help="Column with the same value for a row and its back-translations.")
    ] = None,
    column: Annotated[str | None, typer.Option(help="Column with the text to compare.")] = None,
    format: FormatOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
) -> CommandResult:
    """Drop exact and near copies of earlier rows, within and across files, back-translations included."""
    counts = deduplicate(
        files,
        output,
        threshold=threshold,
        group=group,
        column=column,
        format=format,
        progress=progress,
        executor=chosen_executor(engine, workers, ray_address),
    )
    rows = [
        [escape(Path(path).name), count.read, count.kept, *(count.dropped[reason] for reason in REASONS)]
        for path, count in counts.items()
    ]
    written = table(f"Written to {output}", ["file", "read", "kept", *REASONS], rows)
    to_pipe = output == PIPE
    return CommandResult(None if to_pipe else {"threshold": threshold, "files": counts}, [written], stderr=to_pipe)


@naming_column()
def filter_cli(
    source: DialoguesArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="New folder for kept dialogues, dropped.jsonl and report.json.")
    ],
    offensive: Annotated[
        Literal["drop", "off"], typer.Option(help="Drop abusive dialogues; with --threshold, all offensive ones.")
    ] = "drop",
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=1.0,
            help="Probability from which a turn counts as offensive; the model's own threshold is 0.41.",
        ),
    ] = None,
    sensitive: Annotated[
        str,
        typer.Option(
            help="Topics to drop, as in standard,crime; `standard` is all but politics, ethnicity, crime; `all`; `off`."
        ),
    ] = "standard",
    personal: Annotated[
        Literal["drop", "mask", "off"], typer.Option(help="Drop dialogues with personal data, or mask the data.")
    ] = "drop",
    kinds: Annotated[
        str | None, typer.Option(help="Kinds of personal data to find, such as email,phone,name; by default, all.")
    ] = None,
    language: Annotated[
        str, typer.Option(help="Languages to keep, such as en or en,es,en+es (mixed); `off` keeps all.")
    ] = "en",
    language_by_user: Annotated[
        bool,
        typer.Option(
            "--language-by-user", help="Where a dialogue is too short to tell, use its speakers' language in INPUT."
        ),
    ] = False,
    lexicon: Annotated[
        list[Path] | None,
        typer.Option(help="Drop dialogues with a word or phrase from this file, one per line; repeatable."),
    ] = None,
    review: Annotated[
        bool,
        typer.Option(
            "--review", help="Put dialogues that may be offensive or personal into review.jsonl for people to judge."
        ),
    ] = False,
    judgements: Annotated[
        list[Path] | None,
        typer.Option(help="Files or folders with people's judgements (keep or drop) of those; repeatable."),
    ] = None,
    column: ColumnOption = None,
    format: FormatOption = None,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
) -> CommandResult:
    """Drop offensive dialogues, sensitive topics, personal data and other languages; report the reason for each.

    An interrupted run resumes when it is started again.
    """
    from emoscope.corpus.filters.borderline import read_decisions
    from emoscope.corpus.filters.language import NO_USERS, user_languages
    from emoscope.corpus.filters.standard import standard_filters
    from emoscope.corpus.filters.table import filter_table

    users = None
    if language_by_user:
        if source == PIPE:
            raise EmoscopeError("--language-by-user reads its input twice; give a file, not a pipe")
        users = user_languages(record.dialogue for record in read_records(source, format, column=column))
        if not users:
            raise EmoscopeError(f"{source}: {NO_USERS}; leave --language-by-user out")
    filters = standard_filters(
        languages=None if language == "off" else listed(language),
        offensive=offensive == "drop",
        threshold=threshold,
        topics=None if sensitive == "off" else listed(sensitive),
        personal=personal,
        kinds=tuple(Kind) if kinds is None else listed(kinds),
        lexicons=lexicon or (),
        review=review or bool(judgements),
        users=users,
    )
    executor = chosen_executor(engine, workers, ray_address)
    report = filter_table(
        source,
        output,
        filters,
        column=column,
        format=format,
        progress=progress,
        executor=executor,
        decisions=read_decisions(judgements) if judgements else None,
    )
    return CommandResult(report, _filter_tables(report, output))


def _filter_tables(report: "TableReport", output: Path) -> Iterator[RenderableType]:
    rows: list[list[object]] = []
    for named, counts in report.filters.items():
        name = escape(named)  # a user's lexicon is named as its file
        found = [[name, f"dropped: {escape(reason)}", number] for reason, number in counts.dropped.items()]
        found += [[name, f"masked: {kind}", number] for kind, number in counts.masked.items()]
        if named == REVIEW and report.to_review:
            found.append([name, "set aside", report.to_review])
        rows += found or [[name, "nothing found", 0]]
    kept = f"{report.kept:,} of {counted(report.read, 'dialogue')} kept in {output / report.file}"
    yield plain(f"{kept}, {report.changed:,} with masks")
    yield table(None, ["filter", "what", "number"], rows, left=2)
    if report.labels:
        labels = [
            [escape(label), counts["read"], counts["kept"], f"{1 - counts['kept'] / counts['read']:.1%}"]
            for label, counts in report.labels.items()
        ]
        yield table("Kept by label", ["label", "read", "kept", "dropped"], labels)
    yield from (Text(warning, style="bold") for warning in report.warnings())
    if report.to_review:
        yield plain(
            f"{report.to_review:,} to review: emoscope corpus annotate {output / 'review.jsonl'} --labels keep,drop "
            "-o STUDY; then filter again with --judgements"
        )
    if unmatched := report.unmatched_judgements:
        yield f"{counted(unmatched, 'judged task')} {'is' if unmatched == 1 else 'are'} no borderline row of the input"
    yield "dropped.jsonl lists every reason for each dropped dialogue; report.json has the filters' error rates."
