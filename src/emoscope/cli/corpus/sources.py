"""`emoscope corpus collect`, `sample`, `windows` and `distant`: dialogues and texts from raw files."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from emoscope.cli.corpus.options import ColumnOption, DialoguesArgument, FormatOption
from emoscope.cli.options import SeedOption, naming_column
from emoscope.cli.output import progress, table
from emoscope.cli.result import CommandResult, plain
from emoscope.core.counts import counted
from emoscope.corpus.sources.distant import SPLITS, Duplicates, write_distant
from emoscope.corpus.sources.exports import ChatFormat, collect_chats
from emoscope.corpus.sources.sampling import DateRange, as_day, write_sample
from emoscope.corpus.sources.windows import write_windows
from emoscope.tables import read_records

SinceOption = Annotated[str | None, typer.Option(help="First day to include, such as 2018-01-31, or a year.")]
UntilOption = Annotated[str | None, typer.Option(help="Last day to include, such as 2018-12-31, or a year.")]


def collect_cli(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Exports from one application; a Slack export is a folder.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, such as logs.jsonl; `-` for a pipe.")],
    format: Annotated[ChatFormat, typer.Option(help="The application they were exported from.")],
    gap_minutes: Annotated[float, typer.Option(min=0, help="A longer silence ends a dialogue.")] = 60.0,
    since: SinceOption = None,
    until: UntilOption = None,
) -> CommandResult:
    """Convert chat exports to dialogues with speakers and start times."""
    gap = timedelta(minutes=gap_minutes)
    counts = collect_chats(files, output, format=format, gap=gap, dates=_dates(since, until), progress=progress)
    wrote = f"Wrote {counted(counts['dialogues'], 'dialogue')} with {counted(counts['turns'], 'turn')} to {output}"
    parts: list[RenderableType] = [plain(wrote)]
    if counts["outside"]:
        parts.append(f"{counted(counts['outside'], 'dialogue')} started outside the range of dates")
    if counts["left_out"]:
        parts.append(table("Left out", ["entries", "number"], list(counts["left_out"].items())))
    return _summarised(counts, parts, output)


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
        typer.Option(
            help="Column with the conversation's id (default: `conversation`); without it, each row is a conversation."
        ),
    ] = None,
    format: FormatOption = None,
    seed: SeedOption = 1,
) -> CommandResult:
    """Draw a uniform random sample of conversations, optionally from a range of dates, in bounded memory."""
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
    outside = f"; {counted(counts['outside'], 'row')} outside the range of dates" if counts["outside"] else ""
    drawn = counted(counts["conversations"], "conversation")
    summary = f"Wrote {counts['written']:,} of {counted(counts['rows'], 'row')} to {output}: {drawn}{outside}"
    return _summarised({**counts, "seed": seed}, [plain(summary)], output)


def _summarised(counts: Mapping[str, object], parts: Sequence[RenderableType], output: str) -> CommandResult:
    """Counts on standard error, or as JSON, unless the dialogues themselves go to standard output."""
    return CommandResult(None if output == "-" else counts, parts, stderr=True)


def _dates(since: str | None, until: str | None) -> DateRange:
    return DateRange(as_day(since, "--since"), as_day(until, "--until"))


def windows_cli(
    source: DialoguesArgument,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; `-` for standard output.")],
    user: Annotated[
        str | None, typer.Option(help="Speaker whose turns start and end a window; by default, any speaker.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Number of windows to draw at random; by default, all.")
    ] = None,
    format: FormatOption = None,
    seed: SeedOption = 1,
) -> CommandResult:
    """Cut long dialogues into windows of user, agent, user, as EmoContext did."""
    counts = write_windows(source, output, user=user, size=sample, seed=seed, format=format, progress=progress)
    summary = (
        f"Wrote {counts['written']:,} of {counted(counts['windows'], 'window')} to {output}; "
        f"{counts['without']:,} of {counted(counts['read'], 'dialogue')} had none"
    )
    return _summarised({**counts, "seed": seed}, [plain(summary)], output)


@naming_column()
def distant_cli(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Texts: CSV, TSV, JSONL, Parquet, lines, or `-`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="New folder for train.csv, trial.csv and test.csv.")],
    column: ColumnOption = None,
    balance: Annotated[
        bool, typer.Option("--balance", help="Keep the same number of texts for each emotion: that of the rarest.")
    ] = False,
    joined: Annotated[
        bool,
        typer.Option(
            "--joined", help="Also match emotion words without a space before them, even after `un`, as IEST did."
        ),
    ] = False,
    cue_beginnings: Annotated[
        bool,
        typer.Option("--cue-beginnings", help="Also accept `thats`, `whenever` and the like after the emotion word."),
    ] = False,
    duplicates: Annotated[
        Duplicates,
        typer.Option(
            help="Texts to drop: `exact` copies, or those equal once names, links and emotion word are `masked`."
        ),
    ] = Duplicates.MASKED,
    format: FormatOption = None,
    seed: SeedOption = 1,
) -> CommandResult:
    """Label texts by the emotion word they contain, mask that word, and split 80/5/15, as IEST did."""
    records = progress("texts", read_records(source, format, column=column, replace_surrogates=True))
    texts = (" ".join(record.dialogue.texts) for record in records)
    counts = write_distant(
        texts,
        output,
        seed=seed,
        balance=balance,
        joined=joined,
        cue_beginnings=cue_beginnings,
        duplicates=duplicates,
    )
    rows: list[list[object]] = [
        [
            emotion,
            counts.retrieved[emotion],
            f"{share:.0%}",
            counts.labelled[emotion],
            *(counts.splits[split][emotion] for split in SPLITS),
        ]
        for emotion, share in counts.retrieved_shares.items()
    ]
    columns = ["emotion", "retrieved", "share", "distinct", *SPLITS]
    totals = (counts.labelled, *(counts.splits[split] for split in SPLITS))
    rows.append(["all", counts.retrieved.total(), "", *(each.total() for each in totals)])
    parts = [
        table(f"{counts.kept:,} of {counts.read:,} texts, in {output}", columns, rows),
        table("Dropped", ["reason", "texts"], counts.dropped.most_common()),
    ]
    return CommandResult({**counts.as_dict(), "seed": seed, "balanced": balance}, parts)
