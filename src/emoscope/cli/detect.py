"""`emoscope detect` and `emoscope demo`: the emotion of dialogues given as arguments, files or pipes."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emoscope.cli.completion import complete_label
from emoscope.cli.explanation import show_explanation
from emoscope.cli.options import LabelsOption, ModelOption, PriorOption, naming_column
from emoscope.cli.output import JsonOption, coloured, console, print_json, progress
from emoscope.cli.turns import file_arguments, show_detections
from emoscope.core.counts import counted
from emoscope.core.dialogue import Detection, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import check_other_file
from emoscope.tables import PIPE, Record, format_of, open_writer, read_records, turn_columns
from emoscope.tables.files import open_parquet
from emoscope.tables.rows import header_of
from emoscope.tables.writing import detection_columns

if TYPE_CHECKING:
    from emoscope.detector import Detector

Rows = Iterator[list[dict[str, Any]]]  # the rows to write for each dialogue
RecordScorer = Callable[["Sequence[Record]"], Rows]
HeaderMaker = Callable[[Mapping[str, Any]], dict[str, Any]]
_SHOWN = 5  # row numbers in a message


def detect_cli(
    turns: Annotated[
        list[str],
        typer.Argument(help="The turns of one dialogue; or files and folders of dialogues; or `-` for a pipe."),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", help="File to write; a folder (`out/`) for one file per input; `-` for standard output."
        ),
    ] = None,
    column: Annotated[str | None, typer.Option(help="Column with the text, or with a list of turns.")] = None,
    model: ModelOption = "default",
    labels: LabelsOption = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="Label every turn.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show which turns and words carried the answer.")] = False,
    explain_label: Annotated[
        str | None,
        typer.Option(help="Explain this label's score instead of the answer's.", autocompletion=complete_label),
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
    sources = file_arguments(turns)
    for option, value in {"--output": output, "--column": column, "--format": format}.items():
        if not sources and value is not None:
            raise EmoscopeError(f"{option} goes with a file of dialogues, not with turns given as arguments")
    detector = load(model, labels=labels, prior=parse_prior(prior), abstain_below=abstain_below)
    if explain_label is not None:
        detector.check_label(explain_label)
    if sources:
        answer: RecordScorer = partial(_scored, detector)
        if timeline:
            answer = partial(_turn_by_turn, detector, column=column)
        elif explains:
            answer = partial(_explained, detector, label=explain_label)
        elif as_json:
            answer = partial(_as_objects, detector)
        empty = Detection(detector.labels[0], dict.fromkeys(detector.labels, 0.0), note="")
        header: HeaderMaker | None = None if explains or as_json else partial(_scored_row, empty)
        if timeline:
            header = partial(_turn_row, 0, 0, Turn(""), empty, column)
        job = _FileJob(answer, column, format, header)
        target = output or "-"
        job.run(sources, target, "json" if as_json and target == "-" else None)
        if target != "-":
            if as_json:
                print_json({"dialogues": job.labelled, "files": sources, "output": target})
            else:
                typer.echo(f"{counted(job.labelled, 'dialogue')} labelled into {target}", err=True)
        if job.left_out and not job.labelled:
            raise typer.Exit(1)
    elif explains:
        explanation = detector.explain(turns, label=explain_label)
        print_json(explanation) if as_json else show_explanation(console(), explanation)
    else:
        detections = detector.timeline(turns) if timeline else [detector.detect(turns)]
        if as_json:
            print_json(detections if timeline else detections[0])
        else:
            show_detections(turns[-len(detections) :], detections)


def parse_prior(text: str | None) -> dict[str, float] | None:
    """A class prior written as `label=number,label=number`.

    >>> parse_prior("others=0.9,happy=0.1")
    {'others': 0.9, 'happy': 0.1}
    """
    if text is None:
        return None
    try:
        pairs = [(label.strip(), float(number)) for label, number in (part.split("=") for part in text.split(","))]
    except ValueError:
        raise EmoscopeError(f"--prior: expected label=number,label=number, found {text!r}") from None
    prior = dict(pairs)
    if len(prior) < len(pairs):
        raise EmoscopeError(f"--prior: names a label twice, in {text!r}")
    return prior


@dataclass(slots=True)
class _FileJob:
    """Labels the dialogues of files; rows without text are reported and left out, as `score` does."""

    answer: RecordScorer
    column: str | None
    format: str | None
    header: HeaderMaker | None  # the columns of an output without rows, from those of the input
    labelled: int = 0
    left_out: int = 0

    def run(self, sources: Sequence[str], target: str, output_format: str | None = None) -> None:
        """Label every dialogue of files, in order, into one file or a folder of files.

        The output has the input's columns and the answer; if several files go into one, the column `file` names them.
        """
        folder = target != PIPE and (target.endswith(("/", os.sep)) or Path(target).is_dir())
        targets = _targets(sources, Path(target)) if folder else [target]
        for written in targets:
            if written != PIPE:
                check_other_file(written, *(source for source in sources if source != PIPE))
        if folder:
            for source, written in zip(sources, targets, strict=True):
                Path(written).parent.mkdir(parents=True, exist_ok=True)
                self.run([source], written)
            return
        with open_writer(target, output_format or _output_format(sources[0], target, self.format)) as writer:
            for source in sources:
                origin = {"file": source} if len(sources) > 1 else {}
                for rows in self._answers(source, quiet=target == PIPE):
                    for row in rows:
                        writer.write({**origin, **row})
                    self.labelled += 1
            if not writer.written and self.header is not None and (columns := _columns(sources[0], self.format)):
                writer.write_header({**origin, **self.header(columns)})

    def _answers(self, source: str, *, quiet: bool) -> Rows:
        """The rows to write for each dialogue of a file."""
        from emoscope.detector.detector import BATCH

        empty_rows: list[int] = []
        records = self._records(source, empty_rows)
        if source != PIPE and not quiet:
            records = progress("dialogues", records)
        # A pipe is answered line by line; a file in batches.
        size = 1 if source == PIPE and not sys.stdin.seekable() else BATCH
        while chunk := list(islice(records, size)):
            yield from self.answer(chunk)
        if empty_rows:
            self.left_out += len(empty_rows)
            shown = ", ".join(map(str, empty_rows[:_SHOWN])) + (", ..." if len(empty_rows) > _SHOWN else "")
            name = "standard input" if source == PIPE else source
            left_out = f"left out {counted(len(empty_rows), 'row')} without text (row {shown})"
            typer.echo(f"{name}: {left_out}", err=True)

    def _records(self, source: str, empty_rows: list[int]) -> Iterator[Record]:
        """The rows of a file; if none of the columns is known to hold turns, the error names the option."""
        with naming_column():
            yield from read_records(source, self.format, column=self.column, empty_rows=empty_rows)


def _columns(source: str, format: str | None) -> dict[str, str | None]:
    """The columns of a CSV, TSV or Parquet file without rows, each with a value of its type, None if unknown."""
    kind = format_of(source, format)
    if kind == "parquet":
        with open_parquet(source) as file:
            return dict.fromkeys(file.schema_arrow.names)
    header = header_of(source, kind) if source != PIPE and kind in ("csv", "tsv") else None
    return dict.fromkeys(header.names, "") if header else {}


def _targets(sources: Sequence[str], folder: Path) -> list[str]:
    """The output file for each source: the same path below their common folder."""
    common = Path(os.path.commonpath([str(Path(source).resolve().parent) for source in sources]))
    return [str(folder / Path(source).resolve().relative_to(common)) for source in sources]


def _output_format(source: str, target: str, format: str | None) -> str | None:
    kind = format if target == PIPE or Path(target).suffix == "" else None
    if target == PIPE and kind is None and source != PIPE:
        kind = {"parquet": "jsonl", "text": "tsv"}.get(str(format_of(source)), str(format_of(source)))
    return kind


def _scored(detector: "Detector", records: Sequence[Record]) -> Rows:
    for record, detection in zip(records, detector.detect_many(r.dialogue for r in records), strict=True):
        yield [_scored_row(detection, record.columns)]


def _scored_row(detection: Detection, columns: Mapping[str, Any]) -> dict[str, Any]:
    return {**columns, **detection_columns(detection, columns)}


def _as_objects(detector: "Detector", records: Sequence[Record]) -> Rows:
    """The row's columns, then the same object as for turns given as arguments."""
    for record, detection in zip(records, detector.detect_many(r.dialogue for r in records), strict=True):
        row, answer = record.columns, detection.as_dict()
        yield [{**row, **{f"predicted_{name}" if name in row else name: value for name, value in answer.items()}}]


def _turn_by_turn(detector: "Detector", records: Sequence[Record], *, column: str | None) -> Rows:
    """A row per turn: the other columns, the turn and its answer."""
    for record in records:
        answered = zip(record.dialogue.turns, detector.timeline(record.dialogue), strict=True)
        yield [
            _turn_row(record.row, number, turn, found, column, record.columns)
            for number, (turn, found) in enumerate(answered, start=1)
        ]


def _turn_row(
    row: int, number: int, turn: Turn, found: Detection, column: str | None, columns: Mapping[str, Any]
) -> dict[str, Any]:
    """One turn of a row: the row's columns without its turns, the turn and its answer."""
    said = set(turn_columns(columns) if column is None else [column])
    own = {"row": row, "turn": number, "speaker": turn.speaker, "text": turn.text}
    kept = {f"source_{name}" if name in own else name: value for name, value in columns.items() if name not in said}
    return {**kept, **own, **detection_columns(found, kept)}


def _explained(detector: "Detector", records: Sequence[Record], *, label: str | None) -> Rows:
    for record, (row,) in zip(records, _scored(detector, records), strict=True):
        explanation = detector.explain(record.dialogue, label=label).as_dict()
        yield [{**row, "explanation": explanation}]


def demo_cli(model: ModelOption = "default") -> None:
    """Show what the embedded model does, with timings."""
    start = time.perf_counter()
    from emoscope.detector import load

    demo = json.loads(files("emoscope.cli").joinpath("demo.json").read_text(encoding="utf-8"))
    misleading = [entry["turns"] for entry in demo["misleading"]]
    conversation = [turn["text"] for turn in demo["conversation"]]
    detector = load(model)
    loaded = time.perf_counter()
    screen = console()
    screen.print(f"[bold]emoscope[/] with model [bold]{detector.name}[/], labels: {', '.join(detector.labels)}\n")
    screen.print("[bold]Three dialogues whose last turn misleads on its own[/], none of them in the training data")
    for dialogue, entry in zip(misleading, demo["misleading"], strict=True):
        detection = detector.detect(dialogue)
        screen.print(f"  [dim]{escape(' / '.join(dialogue[:2]))}[/]")
        verdict = f"{coloured(detection.label)} {detection.score:.0%}"
        screen.print(f"  {escape(dialogue[2])}  →  {verdict}   [dim]a reader: {entry['reader']}[/]")
    screen.print("\n[bold]A conversation, turn by turn[/]")
    show_detections(conversation, detector.timeline(conversation))
    screen.print("\n[bold]Why: the words that carried an answer[/]")
    show_explanation(screen, detector.explain(conversation[:3]))
    screen.print("\n[bold]Timings on this machine[/]")
    first = time.perf_counter()
    detector.detect(misleading[0])
    alone = time.perf_counter() - first
    first = time.perf_counter()
    count = sum(1 for _ in detector.detect_many(misleading * 1000))
    rate = count / (time.perf_counter() - first)
    screen.print(f"  model loaded in {(loaded - start) * 1000:,.0f} ms")
    screen.print(f"  one dialogue in {alone * 1000:.2f} ms, {count:,} in batches at {rate:,.0f} a second")
    screen.print('\nTry your own: [bold]emoscope detect --explain "turn one" "turn two" "turn three"[/]')
