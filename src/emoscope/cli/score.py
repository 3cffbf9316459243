"""`emoscope score`: score tables of any size, on all cores or on a Ray cluster."""

import time
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from emoscope.cli.detect import parse_prior
from emoscope.cli.options import (
    EngineOption,
    LabelsOption,
    ModelOption,
    PriorOption,
    RayAddressOption,
    WorkersOption,
    chosen_engine,
)
from emoscope.cli.output import ProgressLines, bars, console, duration, stdout_to_stderr, table
from emoscope.cli.result import CommandResult, refuse_pipe
from emoscope.core.counts import counted
from emoscope.core.errors import Interrupted

if TYPE_CHECKING:
    from emoscope.scoring.manifest import ScoringManifest
    from emoscope.scoring.score_tables import ScoringProgress

_SHOWN = 20  # skipped files to list; the manifest has all
_FAR = 0.1  # drift from which another prior is suggested
_ENOUGH = 1000  # rows needed to estimate a mix


def score_cli(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Parquet, JSON, JSONL, CSV, TSV, plain lines, text also as .gz or .zst: files, folders, globs, "
            "addresses (s3://bucket/logs/).",
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Folder to write; an unfinished run there is resumed.")],
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    model: ModelOption = "default",
    labels: LabelsOption = None,
    prior: PriorOption = None,
    workers: WorkersOption = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first row that cannot be scored, instead of listing it.")
    ] = False,
    format: Annotated[str | None, typer.Option(help="csv, tsv, json, jsonl, parquet or text, of all files.")] = None,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Skip files of unknown format in folders.")
    ] = False,
    batch: Annotated[
        int | None,
        typer.Option(min=1, help="Dialogues per batch; by default measured at the start."),
    ] = None,
    part_rows: Annotated[
        int | None, typer.Option(min=1, help="Rows per part; by default 1,000 to 50,000, by the size of the input.")
    ] = None,
) -> CommandResult:
    """Score millions of dialogues: streamed, in parallel, resumable."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    from emoscope.scoring import score

    refuse_pipe("output", output)
    chosen = chosen_engine(engine, ray_address)
    lines, kept, reached = ProgressLines("score"), 0, ""
    started = time.perf_counter()
    with bars(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("scanning the input", total=None)

        def report(progress: "ScoringProgress") -> None:
            nonlocal kept, started, reached
            kept, now = progress.kept, time.perf_counter()
            reached = progress_line(progress, 0)
            if progress.done == kept:
                started = now
            text = progress_line(progress, now - started)
            bar.update(task, description=text, completed=progress.done, total=progress.total)
            lines.show(text)

        try:
            with stdout_to_stderr() if chosen == "ray" else nullcontext():  # Ray prints about dead workers
                manifest = score(
                    inputs,
                    output,
                    model=model,
                    labels=labels,
                    prior=parse_prior(prior),
                    engine=chosen,
                    ray_address=ray_address,
                    workers=workers,
                    batch=batch,
                    part_rows=part_rows,
                    strict=strict,
                    format=format,
                    skip_unknown=skip_unknown,
                    report=report,
                )
        except KeyboardInterrupt:
            advice = f" at {reached}; give the same command again to go on from there" if reached else ""
            raise Interrupted(advice) from None
    if problem := _problem(manifest):
        typer.echo(f"emoscope: {problem}", err=True)
    return CommandResult(manifest, partial(_show, manifest, output, lines.seconds, kept), failed=bool(problem))


def _problem(manifest: "ScoringManifest") -> str | None:
    """The reason why a finished run counts as failed, if there is one."""
    if manifest.unreadable:
        paths = ", ".join(each["path"] for each in manifest.unreadable[:3])
        return f"{len(manifest.unreadable):,} of the files could not be read: {paths}"
    if manifest.rows and not manifest.scored:
        return f"all {manifest.rows:,} rows were rejected"
    return None


def _show(manifest: "ScoringManifest", output: str, seconds: float, kept: int) -> None:
    screen = console()
    rows = [
        [
            label,
            count,
            f"{count / max(1, manifest.scored):.2%}",
            f"{manifest.estimated_prior.get(label, 0):.2%}",
            f"{manifest.model_prior[label]:.2%}",
            f"{manifest.estimated_prior.get(label, 0) - manifest.model_prior[label]:+.2%}",
        ]
        for label, count in manifest.labels.items()
    ]
    heads = ["label", "rows", "share", "estimated share", "model expects", "drift"]
    size = f"{counted(manifest.rows, 'row')} in {counted(len(manifest.parts), 'part')}"
    screen.print(table(f"{size}: {output}", heads, rows))
    screen.print(f"\n{manifest.scored:,} scored, {manifest.rejected:,} rejected, in {seconds:,.1f} s.")
    if kept:
        screen.print(f"{kept:,} of these rows are from an earlier run.")
    if manifest.rejected:
        screen.print(f"Why rows were rejected: {output}/rejects", markup=False)
    if manifest.skipped:
        count = f"{len(manifest.skipped):,} file{'s' * (len(manifest.skipped) != 1)}"
        screen.print(f"Skipped, of unknown format: {count}", style="bold")
        for path in manifest.skipped[:_SHOWN]:
            screen.print(f"  {path}", markup=False)
    for each in manifest.unreadable:
        screen.print(f"Not read: {each['path']}: {each['reason']}", style="bold", markup=False)
    if manifest.drift is not None:
        if manifest.scored < _ENOUGH:
            screen.print(
                f"The estimated shares mean little: {counted(manifest.scored, 'row')}, of {_ENOUGH:,} or more needed."
            )
            return
        screen.print(f"The estimated mix differs from what the model expects in {manifest.drift:.1%} of rows.")
        if manifest.drift >= _FAR:
            # A share of 0 would rule a label out for good.
            shares = {label: max(share, 0.0001) for label, share in manifest.estimated_prior.items()}
            mix = ",".join(f"{label}={share:.4f}" for label, share in shares.items())
            screen.print(f"To score with it, into another folder: --prior {mix}")


def progress_line(progress: "ScoringProgress", seconds: float) -> str:
    """The progress of a run, its speed, and the time left.

    >>> from emoscope.scoring.score_tables import ScoringProgress
    >>> progress_line(ScoringProgress(done=3000, total=9000, kept=1000), 2.0)
    '3,000 of 9,000 rows, 1,000 a second, 6 s left'
    """
    new = progress.done - progress.kept
    text = f"{progress.done:,} of {progress.total:,} rows"
    if new <= 0 or seconds <= 0:
        return text
    rate = new / seconds
    return f"{text}, {rate:,.0f} a second, {duration((progress.total - progress.done) / rate)} left"
