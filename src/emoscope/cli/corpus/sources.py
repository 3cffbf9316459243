"""`emoscope corpus collect`, `windows` and `distant`: dialogues and texts from raw files."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from emoscope.cli.corpus.options import ColumnOption, DialoguesArgument, FormatOption
from emoscope.cli.options import SeedOption
from emoscope.cli.output import progress, table
from emoscope.cli.result import CommandResult
from emoscope.corpus.sources.exports import ChatFormat, collect_chats

if TYPE_CHECKING:
    from emoscope.corpus.sources.sampling import DateRange

SinceOption = Annotated[str | None, typer.Option(help="Only from this day on: 2018-01-31, or a year.")]
UntilOption = Annotated[str | None, typer.Option(help="Only to this day, included: 2018-12-31, or a year.")]


def collect_cli(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Exports of one kind; Slack's are folders.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, such as logs.jsonl; `-` for a pipe.")],
    format: Annotated[ChatFormat, typer.Option(help="What exported them.")],
    gap_minutes: Annotated[float, typer.Option(min=0, help="A longer silence ends a dialogue.")] = 60.0,
    since: SinceOption = None,
    until: UntilOption = None,
) -> CommandResult:
    """Read chat exports into dialogues, with their speakers and the time they began."""
    gap = timedelta(minutes=gap_minutes)
    counts = collect_chats(files, output, format=format, gap=gap, dates=_dates(since, until), progress=progress)
    parts: list[RenderableType] = [f"{counts['dialogues']:,} dialogues of {counts['turns']:,} turns into {output}"]
    if counts["outside"]:
        parts.append(f"{counts['outside']:,} dialogues began outside of the dates")
    if counts["left_out"]:
        parts.append(table("Left out", ["entries", "number"], list(counts["left_out"].items())))
    return _told(counts, parts, output)


def sample_cli(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Dialogues: CSV, TSV, JSONL, Parquet or text.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; `-` for standard output.")],
    size: Annotated[int, typer.Option(min=1, help="Conversations to draw.")],
    since: SinceOption = None,
    until: UntilOption = None,
    time: Annotated[
        str, typer.Option("--time", help="Column with the time: ISO 8601, or seconds since 1970.")
    ] = "time",
    conversation: Annotated[
        str | None,
        typer.Option(help="Column that names the conversation; `conversation` if there is one, else each row is one."),
    ] = None,
    format: FormatOption = None,
    seed: SeedOption = 1,
) -> CommandResult:
    """Draw conversations at random, each as likely as any other, of a range of dates; in bounded memory."""
    from emoscope.corpus.sources.sampling import write_sample

    counts = write_sample(
        source,
        output,
        size,
        dates=_dates(since, until),
        time_column=time,
        conversation=conversation,
        seed=seed,
        format=format,
        progress=progress,
    )
    outside = f"; {counts['outside']:,} rows lie outside of the dates" if counts["outside"] else ""
    summary = (
        f"{counts['written']:,} of {counts['rows']:,} rows into {output}: all of {counts['conversations']:,} "
        f"conversations{outside}"
    )
    return _told({**counts, "seed": seed}, [summary], output)


def _told(counts: Mapping[str, object], parts: Sequence[RenderableType], output: str) -> CommandResult:
    """Counts on standard error, or as JSON, unless the dialogues themselves go to standard output."""
    return CommandResult(None if output == "-" else counts, parts, stderr=True)


def _dates(since: str | None, until: str | None) -> "DateRange":
    from emoscope.corpus.sources.sampling import DateRange, as_day

    return DateRange(as_day(since, "--since"), as_day(until, "--until"))


def windows_cli(
    source: DialoguesArgument,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; `-` for standard output.")],
    user: Annotated[
        str | None, typer.Option(help="Speaker whose turns begin and end a window; else anyone's may.")
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many, drawn at random.")] = None,
    format: FormatOption = None,
    seed: SeedOption = 1,
) -> CommandResult:
    """Cut long dialogues into windows of user, agent, user, as EmoContext did."""
    from emoscope.corpus.sources.windows import write_windows

    counts = write_windows(source, output, user=user, size=sample, seed=seed, format=format, progress=progress)
    summary = (
        f"{counts['written']:,} windows into {output}, of {counts['windows']:,} in {counts['read']:,} dialogues; "
        f"{counts['without']:,} dialogues had none"
    )
    return _told({**counts, "seed": seed}, [summary], output)


def distant_cli(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Texts: CSV, TSV, JSONL, Parquet, lines, or `-`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="New folder for train.csv, trial.csv and test.csv.")],
    column: ColumnOption = None,
    balance: Annotated[bool, typer.Option("--balance", help="As many of each emotion as of the rarest.")] = False,
    joined: Annotated[
        bool, typer.Option("--joined", help="Take emotion words without a blank before them too, as the paper did.")
    ] = False,
    format: FormatOption = None,
    seed: SeedOption = 1,
) -> CommandResult:
    """Label texts by the emotion word they hold, mask that word, and split 80/5/15, as IEST did."""
    from emoscope.core.emotion_words import TRIGGERS
    from emoscope.corpus.sources.distant import SPLITS, write_distant
    from emoscope.tables import read_records

    records = progress("texts", read_records(source, format, column=column, replace_surrogates=True))
    texts = (" ".join(record.dialogue.texts) for record in records)
    counts = write_distant(texts, output, seed=seed, balance=balance, joined=joined)
    rows: list[list[object]] = [
        [emotion, counts.labelled[emotion], *(counts.splits[split][emotion] for split in SPLITS)]
        for emotion in TRIGGERS
    ]
    rows.append(["all", counts.labelled.total(), *(counts.splits[split].total() for split in SPLITS)])
    parts = [
        table(f"{counts.kept:,} of {counts.read:,} texts, in {output}", ["emotion", "found", *SPLITS], rows),
        table("Dropped", ["reason", "texts"], counts.dropped.most_common()),
    ]
    return CommandResult({**counts.as_dict(), "seed": seed, "balanced": balance}, parts)
