"""Read dialogues from tables of any format, from files and pipes."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError, first_line
from emoscope.core.extras import require
from emoscope.core.files import existing_file
from emoscope.tables.formats import PIPE, Format, format_of
from emoscope.tables.json_stream import is_json_lines
from emoscope.tables.rows import (
    Line,
    Place,
    TextRow,
    array_rows,
    delimiter_of,
    json_rows,
    lines_of,
    plain_rows,
    read_header,
    read_lines,
    table_rows,
)
from emoscope.tables.turns import EXPECTED, TURN_COLUMN, NoTextError, row_dialogue, turn_columns

NO_ARRAY = (
    "a JSON array cannot be read from a pipe; write one dialogue per line, or save it to a file that ends in .json"
)
_PARQUET_SLICE = 20_000


@dataclass(frozen=True, slots=True)
class Record:
    """One row: its number, its dialogue, and all its columns."""

    row: int
    dialogue: Dialogue
    columns: Mapping[str, Any] = field(default_factory=dict)


def read_records(
    path: str,
    format: str | None = None,
    *,
    column: str | None = None,
    replace_surrogates: bool = False,
    empty_rows: list[int] | None = None,
) -> Iterator[Record]:
    """Stream the dialogues of a file, or of standard input for `-`; the first bad row is an InputError.

    `column` names the column with the text or the list of turns. `replace_surrogates` replaces halves of surrogate
    pairs in JSON instead of refusing them. `empty_rows` collects the numbers of rows without text, which are otherwise
    errors.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text('id,turn1,turn2\\n7,hi,"hello, you"\\n')
    >>> [(record.dialogue.texts, record.columns["id"]) for record in read_records(str(file))]
    [(('hi', 'hello, you'), '7')]
    """
    shown = "standard input" if path == PIPE else path
    kind = format_of(path, format)
    if kind == "json" and path != PIPE and is_json_lines(str(existing_file(path))):
        kind = "jsonl"
    if kind in ("parquet", "json"):
        if path == PIPE:
            raise EmoscopeError("Parquet cannot be read from a pipe" if kind == "parquet" else NO_ARRAY)
        rows = (
            _parquet_rows(path, column)
            if kind == "parquet"
            else array_rows(path, replace_surrogates=replace_surrogates)
        )
    else:
        lines = lines_of(sys.stdin.buffer) if path == PIPE else read_lines(str(existing_file(path)))
        first = next(lines, None)
        if first is None:
            raise InputError(shown, "is empty")
        if path == PIPE and kind in (None, "jsonl") and _begins_array(first.text):
            raise EmoscopeError(NO_ARRAY)
        lines = chain([first], lines)
        match kind if kind in ("csv", "tsv", "jsonl") else sniff(shown, first, kind, column):
            case "jsonl":
                rows = json_rows(lines, replace_surrogates=replace_surrogates)
            case "csv" | "tsv" as delimited:
                rows = _delimited_rows(shown, lines, delimited, column)
            case _:
                rows = plain_rows(lines)
    return _records(shown, rows, column, empty_rows)


def _records(path: str, rows: Iterator[TextRow], column: str | None, empty_rows: list[int] | None) -> Iterator[Record]:
    for place, columns, problem in rows:
        if columns is None:
            raise InputError(path, problem, row=place.line)
        try:
            dialogue = row_dialogue(columns, column)
        except EmoscopeError as error:
            if empty_rows is not None and isinstance(error, NoTextError):
                empty_rows.append(place.line)
                continue
            raise InputError(path, str(error), row=place.line) from None
        yield Record(place.line, dialogue, columns)


def sniff(path: str, line: Line, kind: Format | None, column: str | None = None) -> Format:
    """The format that the first line of a pipe or a text file shows: JSON, a table with turn columns, or plain text."""
    if line.problem:
        raise InputError(path, line.problem, row=line.place.line)
    text = line.text
    if kind is None and text.lstrip()[:1] in ("{", "["):
        return "jsonl"
    if "\t" in text and _is_header(text.split("\t"), column):
        return "tsv"
    return "csv" if kind is None and _is_header(text.split(delimiter_of(text)), column) else "text"


def _begins_array(line: str) -> bool:
    """Whether a line of JSON is a list of dialogues, or its beginning; a list of turns is one dialogue."""
    if not line.lstrip().startswith("["):
        return False
    try:
        items = json.loads(line)
    except (ValueError, RecursionError):
        return line.lstrip()[1:].lstrip()[:1] in ("", "{")
    return bool(items) and isinstance(items[0], dict) and "turns" in items[0]


def _is_header(cells: Iterable[str], column: str | None) -> bool:
    """Whether cells name a column with turns; `text` does only if all look like names: "sorry, text" is speech."""
    written = [cell.strip('"').lower() for cell in cells]
    names = list(map(str.strip, written))
    if any(map(TURN_COLUMN.fullmatch, names)) or (column is not None and column.lower() in names):
        return True
    return not {"turns", "text"}.isdisjoint(written) and all(map(str.isidentifier, written))


def _delimited_rows(path: str, lines: Iterator[Line], kind: Format, column: str | None) -> Iterator[TextRow]:
    header = read_header(path, lines, kind)
    if header is None:
        raise InputError(path, "is empty")
    _check_columns(path, header.names, column)
    return table_rows(header, lines)


def _check_columns(path: str, names: Iterable[str], column: str | None) -> None:
    if column is not None:
        if column not in names:
            raise InputError(path, f"has no column {column!r}; it has: {', '.join(names)}", row=1)
    elif not turn_columns(names):
        raise InputError(path, f"{EXPECTED}; found: {', '.join(names)}", row=1)


def _parquet_rows(path: str, column: str | None) -> Iterator[TextRow]:
    parquet, arrow = (require(name, extra="parquet") for name in ("pyarrow.parquet", "pyarrow"))
    numbers = count(1)
    try:
        with parquet.ParquetFile(existing_file(path)) as table:
            _check_columns(path, table.schema_arrow.names, column)
            for part in table.iter_batches(_PARQUET_SLICE):
                for columns in part.to_pylist():
                    yield TextRow(Place(0, next(numbers)), columns)
    except (arrow.ArrowException, OSError) as error:
        raise InputError(path, f"is not a readable Parquet file ({first_line(error)})") from None
