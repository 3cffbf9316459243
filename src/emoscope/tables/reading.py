"""Dialogues from tables: CSV, TSV, JSONL, Parquet, plain text lines, and pipes."""

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import MAX_LINE_BYTES, decode_line, existing_file, text_lines
from emoscope.tables.formats import PIPE, Format, format_of

_TURN_COLUMN = re.compile(r"turn_?(\d+)", re.IGNORECASE)
_PARQUET_SLICE = 20_000


@dataclass(frozen=True, slots=True)
class Record:
    """One row: its dialogue and the columns it came with."""

    row: int
    dialogue: Dialogue
    columns: Mapping[str, Any] = field(default_factory=dict)


def read_records(path: str, given: str | None = None, *, column: str | None = None) -> Iterator[Record]:
    """Stream the dialogues of a file, or of standard input for `-`; with `column`, each row's one text is there.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text('id,turn1,turn2\\n7,hi,"hello, you"\\n')
    >>> [(record.dialogue.texts, record.columns["id"]) for record in read_records(str(file))]
    [(('hi', 'hello, you'), '7')]
    """
    kind = format_of(path, given)
    if kind == "parquet":
        return _read_parquet(path, column)
    lines = _pipe_lines() if path == PIPE else text_lines(path)
    first = next(lines, None)
    if first is None:
        raise InputError(_shown(path), "is empty")
    kind = kind if kind in ("csv", "jsonl") else _sniffed(first[1], kind, column)
    everything = _chained(first, lines)
    if kind == "jsonl":
        return _read_jsonl(path, everything, column)
    if kind == "text":
        return _read_text(path, everything)
    return _read_delimited(path, everything, "," if kind == "csv" else "\t", column)


def _shown(path: str) -> str:
    return "standard input" if path == PIPE else path


def _chained(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _sniffed(line: str, kind: Format | None, column: str | None = None) -> Format:
    """What a first line shows: JSON, a table with turn columns, or plain text."""
    if kind == "tsv":
        return "tsv"
    if kind is None and line.lstrip()[:1] in ("{", "["):
        return "jsonl"
    names = [name.strip().lower() for name in line.split("\t")]
    if any(_TURN_COLUMN.fullmatch(name) for name in names) or (column and column.lower() in names):
        return "tsv"
    names = [name.strip() for name in line.lower().split(",")]
    if kind is None and (any(map(_TURN_COLUMN.fullmatch, names)) or (column and column.lower() in names)):
        return "csv"
    return "text"


def _pipe_lines() -> Iterator[tuple[int, str]]:
    for row, raw in enumerate(iter(lambda: sys.stdin.buffer.readline(MAX_LINE_BYTES + 1), b""), start=1):
        if len(raw) > MAX_LINE_BYTES:
            raise InputError("standard input", f"line is longer than {MAX_LINE_BYTES:,} bytes", row=row)
        yield row, decode_line("standard input", row, raw)


def _read_text(path: str, lines: Iterable[tuple[int, str]]) -> Iterator[Record]:
    for row, line in lines:
        if line.strip():
            yield _record(path, row, {"turns": line.split("\t")})


def _read_jsonl(path: str, lines: Iterable[tuple[int, str]], column: str | None = None) -> Iterator[Record]:
    for row, line in lines:
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InputError(_shown(path), f"is not valid JSON ({error})", row=row) from None
        if isinstance(value, list | str):
            value = {"turns": [value] if isinstance(value, str) else value}
        if not isinstance(value, dict):
            raise InputError(_shown(path), "expected an object or a list of turns", row=row)
        yield _record(path, row, value, column)


def _read_delimited(
    path: str, lines: Iterable[tuple[int, str]], delimiter: str, column: str | None = None
) -> Iterator[Record]:
    numbers: list[int] = []

    def texts() -> Iterator[str]:
        for row, line in lines:
            numbers.append(row)
            yield line + "\n"

    if delimiter == ",":
        reader = csv.reader(texts(), strict=True)
    else:  # tab-separated chat data are not quoted: a lone quotation mark is text
        reader = csv.reader(texts(), delimiter=delimiter, quoting=csv.QUOTE_NONE)
    header: list[str] | None = None
    try:
        for cells in reader:
            row, numbers[:] = numbers[0], []
            if header is None:
                header = [cell.strip() for cell in cells]
                _check_header(path, header, column)
            elif len(cells) != len(header):
                raise InputError(_shown(path), f"expected {len(header)} columns, found {len(cells)}", row=row)
            else:
                yield _record(path, row, dict(zip(header, cells, strict=True)), column)
    except csv.Error as error:
        raise InputError(_shown(path), f"is not a valid table ({error})", row=numbers[0] if numbers else None) from None


def _check_header(path: str, names: Sequence[str], column: str | None = None) -> None:
    if len(set(names)) != len(names):
        raise InputError(_shown(path), "names a column twice", row=1)
    if column is not None:
        if column not in names:
            raise InputError(_shown(path), f"has no column {column!r}, found {list(names)}", row=1)
    elif not turn_columns(names):
        raise InputError(
            _shown(path), f"expected columns turn1, turn2, ... or turns or text, found {list(names)}", row=1
        )


def _read_parquet(path: str, column: str | None = None) -> Iterator[Record]:
    if path == PIPE:
        raise EmoscopeError("Parquet cannot be read from a pipe; give a file")
    import polars as pl

    try:
        table = pl.scan_parquet(existing_file(path))
        names = table.collect_schema().names()
        _check_header(path, names, column)
        row = 0
        while len(part := table.slice(row, _PARQUET_SLICE).collect()):
            for values in part.iter_rows(named=True):
                row += 1
                yield _record(path, row, values, column)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(path, f"is not a readable Parquet file ({str(error).splitlines()[0]})") from None


def turn_columns(names: Iterable[str]) -> list[str]:
    """The columns that hold turns, in order.

    >>> turn_columns(["id", "turn2", "turn1"])
    ['turn1', 'turn2']
    """
    given = list(names)
    numbered = sorted((int(match[1]), name) for name in given if (match := _TURN_COLUMN.fullmatch(name)))
    if numbered:
        return [name for _, name in numbered]
    return [name for name in given if name == ("turns" if "turns" in given else "text")]


def _record(path: str, row: int, columns: dict[str, Any], column: str | None = None) -> Record:
    names = turn_columns(columns) if column is None else [column]
    if column is not None and column not in columns:
        raise InputError(_shown(path), f"has no {column!r}", row=row)
    if not names:
        raise InputError(_shown(path), "expected turns, turn1, turn2, ... or text", row=row)
    turns: Any = [columns[name] for name in names]
    if names == ["turns"]:
        turns = _turn_list(path, row, columns["turns"])
    while turns and turns[-1] in (None, ""):  # a shorter dialogue leaves its last columns empty
        turns.pop()
    if not turns:
        raise InputError(_shown(path), "has no turns", row=row)
    try:
        return Record(row, Dialogue.of("" if turn is None else turn for turn in turns), columns)
    except EmoscopeError as error:
        raise InputError(_shown(path), str(error), row=row) from None


def _turn_list(path: str, row: int, value: Any) -> list[Any]:
    if isinstance(value, str):  # a list written into a CSV cell
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            raise InputError(_shown(path), "'turns' is not a JSON list", row=row) from None
    if not isinstance(value, list):
        raise InputError(_shown(path), f"'turns' must be a list, not {type(value).__name__}", row=row)
    return list(value)
