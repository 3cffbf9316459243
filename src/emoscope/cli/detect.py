"""`emoscope detect` and `emoscope demo`: the emotion of dialogues given as arguments, files or pipes."""

import json
import sys
import time
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.explanation import show_explanation
from emoscope.cli.options import LabelsOption, ModelOption, PriorOption
from emoscope.cli.output import JsonOption, coloured, console, print_json, progress
from emoscope.core.errors import EmoscopeError

if TYPE_CHECKING:
    from emoscope.core.dialogue import Detection
    from emoscope.detector import Detector


def detect_cli(
    turns: Annotated[
        list[str],
        typer.Argument(help="The turns of one dialogue; or one file of dialogues; or `-` for standard input."),
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="File to write; `-` for standard output.")
    ] = None,
    model: ModelOption = "default",
    labels: LabelsOption = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="A detection for every turn.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show which turns and words carried the answer.")] = False,
    explain_label: Annotated[
        str | None, typer.Option(help="Explain this label's score instead of the answer's.")
    ] = None,
    prior: PriorOption = None,
    abstain_below: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Answer 'unsure' below this probability.")
    ] = 0.0,
    format: Annotated[str | None, typer.Option(help="csv, tsv, json, jsonl, parquet or text.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Label dialogues: turns as arguments, or a file (CSV, TSV, JSON, JSONL, Parquet; .gz, .zst), or a pipe."""
    from emoscope.detector import load

    explains = explain or explain_label is not None
    if timeline and explains:
        raise EmoscopeError("--timeline and --explain: choose one")
    source = file_argument(turns)
    if source is not None and (timeline or explains):
        option = "--timeline" if timeline else "--explain"
        raise EmoscopeError(f"{option} shows one dialogue given as arguments; a file gets one label a row")
    if source is None and output is not None:
        raise EmoscopeError("--output goes with a file of dialogues; turns given as arguments are shown here")
    detector = load(model, labels=labels, prior=parse_prior(prior), abstain_below=abstain_below)
    if source is not None:
        count = detect_file(detector, source, output or "-", format=format)
        if output not in (None, "-"):
            console(stderr=True).print(f"{count:,} dialogues labelled into {output}")
    elif explains:
        explanation = detector.explain(turns, label=explain_label)
        print_json(explanation) if as_json else show_explanation(console(), explanation)
    else:
        detections = detector.timeline(turns) if timeline else [detector.detect(turns)]
        if as_json:
            print_json(detections if timeline else detections[0])
        else:
            _show(turns[-len(detections) :], detections)


def file_argument(arguments: list[str]) -> str | None:
    """The file meant by the arguments, or None if they are turns."""
    from emoscope.tables import PIPE, format_of

    if len(arguments) != 1:
        return None
    (only,) = arguments
    if only == PIPE or (len(only) < 4096 and "\x00" not in only and Path(only).is_file()):
        return only
    try:
        looks_like_file = not any(character.isspace() for character in only) and format_of(only) is not None
    except EmoscopeError:
        return None
    if looks_like_file:
        raise EmoscopeError(f"{only}: no such file")
    return None


def parse_prior(text: str | None) -> dict[str, float] | None:
    """A class prior written as `label=number,label=number`.

    >>> parse_prior("others=0.9,happy=0.1")
    {'others': 0.9, 'happy': 0.1}
    """
    if text is None:
        return None
    try:
        return {label.strip(): float(number) for label, number in (part.split("=") for part in text.split(","))}
    except ValueError:
        raise EmoscopeError(f"--prior: expected label=number,label=number, found {text!r}") from None


def detect_file(detector: "Detector", source: str, target: str, *, format: str | None = None) -> int:
    """Label every dialogue of a file, in order; returns how many. The output has the input's columns and the answer."""
    from emoscope.detector.detector import BATCH
    from emoscope.tables import PIPE, format_of, open_writer, read_records
    from emoscope.tables.writing import detection_columns

    if PIPE not in (source, target) and Path(source).resolve() == Path(target).resolve():
        raise EmoscopeError(f"{target}: is the input itself; write to another file")
    kind = format if target == PIPE or Path(target).suffix == "" else None
    if target == PIPE and kind is None and source != PIPE:
        kind = {"parquet": "jsonl", "text": "tsv"}.get(str(format_of(source)), str(format_of(source)))
    records = read_records(source, format)
    if PIPE not in (source, target):
        records = progress("dialogues", records)
    # A pipe is answered line by line; a file in batches.
    size = 1 if source == PIPE and not sys.stdin.seekable() else BATCH
    count = 0
    with open_writer(target, kind) as writer:
        while chunk := list(islice(records, size)):
            for record, detection in zip(chunk, detector.detect_many(r.dialogue for r in chunk), strict=True):
                writer.write({**record.columns, **detection_columns(detection, record.columns)})
            count += len(chunk)
    return count


def _show(turns: list[str], detections: "list[Detection]") -> None:
    """One line a turn: the label in its colour, how sure, and what was said."""
    screen = console()
    for text, detection in zip(turns, detections, strict=True):
        sure = detection.score if detection.label is None else detection.scores[detection.label]
        padding = " " * (9 - len(detection.label or "unsure"))
        answer = f"{coloured(detection.label)}{padding}{sure:6.1%} {'█' * round(sure * 10):<10}"
        screen.print(f"{answer}  {escape(text)}")
        if detection.note:
            screen.print(f"[dim]{' ' * 27}note: {escape(detection.note)}[/]")
    if any(detection.truncated for detection in detections):
        screen.print("[dim]Input was cut: the model reads a few turns, and of a long one its start and end, only.[/]")
    if len(detections) == 1:
        rest = sorted(detections[0].scores.items(), key=lambda pair: -pair[1])
        screen.print("[dim]" + "  ".join(f"{label} {score:.1%}" for label, score in rest) + "[/]")


def demo_cli(model: ModelOption = "default") -> None:
    """Show what the embedded model does, with timings."""
    begun = time.perf_counter()
    from emoscope.detector import load

    demo = json.loads(files("emoscope.cli").joinpath("demo.json").read_text(encoding="utf-8"))
    misleading, conversation = [entry["turns"] for entry in demo["misleading"]], demo["conversation"]
    detector = load(model)
    loaded = time.perf_counter()
    screen = console()
    screen.print(f"[bold]emoscope[/] with model [bold]{detector.name}[/], labels: {', '.join(detector.labels)}\n")
    screen.print("[bold]Three dialogues whose last turn misleads on its own[/], none of them taught")
    for dialogue, entry in zip(misleading, demo["misleading"], strict=True):
        detection = detector.detect(dialogue)
        screen.print(f"  [dim]{escape(' / '.join(dialogue[:2]))}[/]")
        verdict = f"{coloured(detection.label)} {detection.score:.0%}"
        screen.print(f"  {escape(dialogue[2])}  →  {verdict}   [dim]a reader: {entry['reader']}[/]")
    screen.print("\n[bold]A conversation, turn by turn[/]")
    _show(conversation, detector.timeline(conversation))
    screen.print("\n[bold]Why: the words that carried an answer[/]")
    show_explanation(screen, detector.explain(conversation[:3]))
    screen.print("\n[bold]Timings on this machine[/]")
    first = time.perf_counter()
    detector.detect(misleading[0])
    alone = time.perf_counter() - first
    first = time.perf_counter()
    count = sum(1 for _ in detector.detect_many(misleading * 1000))
    rate = count / (time.perf_counter() - first)
    screen.print(f"  model loaded in {(loaded - begun) * 1000:,.0f} ms")
    screen.print(f"  one dialogue in {alone * 1000:.2f} ms, {count:,} in batches at {rate:,.0f} a second")
    screen.print('\nTry your own: [bold]emoscope detect --explain "turn one" "turn two" "turn three"[/]')
