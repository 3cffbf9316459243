"""`emoscope detect` and `emoscope demo`: the emotion of dialogues given as arguments, files or pipes."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.explanation import show_explanation
from emoscope.cli.output import JsonOption, coloured, console, print_json
from emoscope.core.errors import EmoscopeError

if TYPE_CHECKING:
    from emoscope.core.dialogue import Detection
    from emoscope.detector import Detector

# Table 1 of the EmoContext paper: the last turn alone would mislead.
TABLE_1 = (
    (
        "I just qualified for the Nabard internship",
        "WOOT! Thats great news. Congratulations!",
        "I started crying",
    ),
    ("How dare you to slap my child", "If you spoil my car, I will do that to you too", "Just try to do that once"),
    ("I was hurt by u more", "You didn't mean it.", "say u love me"),
)
TABLE_1_LABELS = ("happy", "angry", "sad")

CONVERSATION = (
    "hey, are you there?",
    "yes! how was the exam?",
    "I passed!!! I am so happy 😂😂",
    "wow, congratulations :)",
    "thank you so much",
    "are you going to celebrate?",
    "no, my best friend is ignoring me again 😭",
    "oh no, what happened?",
    "she lied to me. I hate liars 😡",
    "what will you do now?",
    "I will watch a movie",
)


def detect_cli(
    turns: Annotated[
        list[str],
        typer.Argument(help="The turns of one dialogue; or one file of dialogues; or `-` for standard input."),
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="File to write; `-` for standard output.")
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="`default`, `nano`, or a run's folder.")] = "default",
    labels: Annotated[
        str | None, typer.Option("--labels", help="Set of labels, where the model has several: emocontext, ekman, ...")
    ] = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="A detection for every turn.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show which turns and words carried the answer.")] = False,
    explain_label: Annotated[
        str | None, typer.Option("--explain-label", help="Explain this label's score instead of the answer's.")
    ] = None,
    prior: Annotated[
        str | None, typer.Option("--prior", help="Your own mix of labels: others=0.9,happy=0.04,...")
    ] = None,
    abstain_below: Annotated[
        float, typer.Option("--abstain-below", min=0.0, max=1.0, help="Answer 'unsure' below this probability.")
    ] = 0.0,
    format: Annotated[str | None, typer.Option("--format", help="csv, tsv, json, jsonl, parquet or text.")] = None,
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
        if as_json:
            print_json(explanation.as_dict())
        else:
            show_explanation(console(), explanation)
    elif as_json:
        answers = [detection.as_dict() for detection in _detections(detector, turns, timeline)]
        print_json(answers if timeline else answers[0])
    else:
        _show(turns if timeline else turns[-1:], _detections(detector, turns, timeline))


def _detections(detector: "Detector", turns: list[str], timeline: bool) -> "list[Detection]":
    return detector.timeline(turns) if timeline else [detector.detect(turns)]


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
    from itertools import islice

    from emoscope.detector.detector import BATCH
    from emoscope.tables import PIPE, detection_columns, format_of, open_writer, read_records

    if PIPE not in (source, target) and Path(source).resolve() == Path(target).resolve():
        raise EmoscopeError(f"{target}: is the input itself; write to another file")
    kind = format if target == PIPE or Path(target).suffix == "" else None
    if target == PIPE and kind is None and source != PIPE:
        kind = {"parquet": "jsonl", "text": "tsv"}.get(str(format_of(source)), str(format_of(source)))
    records = read_records(source, format)
    # A pipe is answered line by line; a file in batches.
    size = 1 if source == PIPE and not sys.stdin.seekable() else BATCH
    count = 0
    with open_writer(target, kind) as writer, _progress(source, target) as advance:
        while chunk := list(islice(records, size)):
            for record, detection in zip(chunk, detector.detect_many(r.dialogue for r in chunk), strict=True):
                writer.write({**record.columns, **detection_columns(detection, record.columns)})
            count += len(chunk)
            advance(len(chunk))
    return count


@contextmanager
def _progress(source: str, target: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, unless the output itself goes to the screen."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} dialogues, {task.fields[rate]}"), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True, disable="-" in (source, target)) as bar:
        task = bar.add_task("detect", total=None, rate="")
        begun = time.perf_counter()

        def advance(amount: int) -> None:
            done = bar.tasks[0].completed + amount
            bar.update(task, advance=amount, rate=f"{done / (time.perf_counter() - begun):,.0f} a second")

        yield advance


def _show(turns: "list[str] | tuple[str, ...]", detections: "list[Detection]") -> None:
    """One line a turn: the label in its colour, how sure, and what was said."""
    screen = console()
    for text, detection in zip(turns, detections, strict=True):
        sure = detection.score if detection.label is None else detection.scores[detection.label]
        name = detection.label or "unsure"
        answer = f"{coloured(detection.label)}{' ' * (9 - len(name))}{sure:6.1%} {'█' * round(sure * 10):<10}"
        screen.print(f"{answer}  {escape(text)}")
    if any(detection.truncated for detection in detections):
        screen.print("[dim]Input was cut: the model reads a few turns, and of each a certain length, only.[/]")
    if len(detections) == 1:
        rest = sorted(detections[0].scores.items(), key=lambda pair: -pair[1])
        screen.print("[dim]" + "  ".join(f"{label} {score:.1%}" for label, score in rest) + "[/]")


def demo_cli(
    model: Annotated[str, typer.Option("--model", "-m", help="`default`, `nano`, or a run's folder.")] = "default",
) -> None:
    """Show what the embedded model does, with timings."""
    begun = time.perf_counter()
    from emoscope.detector import load

    detector = load(model)
    loaded = time.perf_counter()
    screen = console()
    screen.print(f"[bold]emoscope[/] with model [bold]{detector.name}[/], labels: {', '.join(detector.labels)}\n")
    screen.print("[bold]Three dialogues whose last turn misleads on its own[/] (EmoContext, Table 1)")
    for dialogue, gold in zip(TABLE_1, TABLE_1_LABELS, strict=True):
        detection = detector.detect(dialogue)
        screen.print(f"  [dim]{escape(' / '.join(dialogue[:2]))}[/]")
        sure = detection.scores[str(detection.label)]
        verdict = f"{coloured(detection.label)} {sure:.0%}"
        screen.print(f"  {escape(dialogue[2])}  →  {verdict}   [dim]judges: {gold}[/]")
    screen.print("\n[bold]A conversation, turn by turn[/]")
    _show(CONVERSATION, detector.timeline(CONVERSATION))
    screen.print("\n[bold]Why: the words that carried an answer[/]")
    show_explanation(screen, detector.explain(CONVERSATION[:3]))
    screen.print("\n[bold]Timings on this machine[/]")
    first = time.perf_counter()
    detector.detect(TABLE_1[0])
    alone = time.perf_counter() - first
    many = [list(dialogue) for dialogue in TABLE_1] * 1000
    first = time.perf_counter()
    count = sum(1 for _ in detector.detect_many(many))
    rate = count / (time.perf_counter() - first)
    screen.print(f"  model loaded in {(loaded - begun) * 1000:,.0f} ms")
    screen.print(f"  one dialogue in {alone * 1000:.2f} ms, {count:,} in batches at {rate:,.0f} a second")
    screen.print('\nTry your own: [bold]emoscope detect --explain "turn one" "turn two" "turn three"[/]')
