"""Rows of text tables with their positions, so that reading can start in the middle of a file.

A row that cannot be parsed is still a row: it has a problem instead of columns.
"""

import csv
import io
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import IO, Any, NamedTuple

from emoscope.core.counts import counted
from emoscope.core.errors import InputError
from emoscope.core.files import MAX_LINE_BYTES, decode_line
from emoscope.tables.files import open_binary, skip_to
from emoscope.tables.formats import Format
from emoscope.tables.json_stream import MAX_ROW_BYTES, array_elements

# A quoted cell may span lines, but one that is never closed must not swallow the file.
MAX_LINES = 1000
MAX_JOINED_BYTES = 1 << 20


class Place(NamedTuple):
    """The position of a row: its byte offset, and its line number from 1."""

    offset: int
    line: int


START = Place(0, 1)


class TextRow(NamedTuple):
    """A row: its position, and its columns or the problem with it."""

    place: Place
    columns: Mapping[str, Any] | None
    problem: str = ""


class Line(NamedTuple):
    """A line: its bytes (empty if it is too long), and its text without the line end, or the problem with it."""

    place: Place
    raw: bytes
    text: str = ""
    problem: str = ""

    @property
    def end(self) -> Place:
        return Place(self.place.offset + len(self.raw), self.place.line + 1)


class Header(NamedTuple):
    """The names of a table's columns, the position of its first row, and what separates its cells."""

    names: Sequence[str]
    end: Place
    delimiter: str


def text_rows(path: str, format: Format, start: Place = START) -> Iterator[TextRow]:
    r"""Yield the rows of a CSV, TSV, JSONL or plain text file from a position, or all elements of a JSON array.

    Blank lines are not rows.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = file.write_text('{"text": "hi"}\n\n{"text":\n')
    >>> [(row.place.line, row.columns, row.problem != "") for row in text_rows(str(file), "jsonl")]
    [(1, {'text': 'hi'}, False), (3, None, True)]
    """
    if format == "jsonl":
        yield from json_rows(read_lines(path, start))
    elif format == "json":
        yield from array_rows(path)
    elif format == "text":
        yield from plain_rows(read_lines(path, start))
    elif (header := header_of(path, format)) is not None:
        yield from table_rows(header, read_lines(path, max(start, header.end)))


def header_of(path: str, format: Format) -> Header | None:
    """The header of a CSV or TSV file; None if all its lines are blank."""
    return read_header(path, read_lines(path), format)


def read_lines(path: str, start: Place = START, end: int | None = None) -> Iterator[Line]:
    """Yield the lines of a file from a position; with `end`, those that begin before that offset."""
    with open_binary(path) as handle:
        skip_to(handle, start.offset)
        lines = lines_of(handle, start)
        yield from lines if end is None else takewhile(lambda line: line.place.offset < end, lines)


def lines_of(handle: IO[bytes], start: Place = START) -> Iterator[Line]:
    """Yield the lines of an open file or pipe, whose position is `start`."""
    offset, line = start
    while raw := handle.readline(MAX_ROW_BYTES + 1):
        place = Place(offset, line)
        offset, line = offset + len(raw), line + 1
        if len(raw) <= MAX_ROW_BYTES:
            try:
                yield Line(place, raw, decode_line("", place.line, raw))
            except InputError as error:
                yield Line(place, raw, problem=error.problem)
            continue
        while raw and not raw.endswith(b"\n"):
            raw = handle.readline(MAX_LINE_BYTES)
            offset += len(raw)
        yield Line(place, b"", problem=f"line is longer than {MAX_ROW_BYTES:,} bytes")


def line_after(path: str, offset: int) -> int:
    """The offset of the first line that begins at an offset or after it.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = file.write_bytes(b"ab\\ncd\\n")
    >>> [line_after(str(file), offset) for offset in (0, 1, 3, 4)]
    [0, 3, 3, 6]
    """
    if offset == 0:
        return 0
    with open_binary(path) as handle:
        skip_to(handle, offset - 1)
        while raw := handle.readline(MAX_LINE_BYTES):
            offset += len(raw)
            if raw.endswith(b"\n"):
                break
    return offset - 1


def json_rows(lines: Iterator[Line], *, replace_surrogates: bool = False) -> Iterator[TextRow]:
    """Yield the rows of JSON lines; halves of surrogate pairs are problems, or replaced by question marks."""
    for line in _not_blank(lines):
        if line.problem:
            yield TextRow(line.place, None, line.problem)
            continue
        try:
            value = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            yield TextRow(line.place, None, f"is not valid JSON ({error})")
        else:
            yield json_row(line.place, value, replace_surrogates if "\\u" in line.text else None)


def json_row(place: Place, value: Any, replace_surrogates: bool | None = False) -> TextRow:
    """The row of a JSON value: an object, a list of turns or a single turn.

    `replace_surrogates` is None if the value cannot contain halves of surrogate pairs.
    """
    if isinstance(value, list | str):
        value = {"turns": [value] if isinstance(value, str) else value}
    if not isinstance(value, dict):
        return TextRow(place, None, "expected an object or a list of turns")
    if replace_surrogates is not None:
        text = json.dumps(value, ensure_ascii=False)
        try:
            text.encode()
        except UnicodeEncodeError:
            if not replace_surrogates:
                return TextRow(place, None, "holds half of a surrogate pair, which is not text")
            value = json.loads(text.encode(errors="replace"))
    return TextRow(place, value)


def array_rows(path: str, *, replace_surrogates: bool = False) -> Iterator[TextRow]:
    """Yield a row for each element of a JSON array."""
    for number, element in enumerate(array_elements(path), start=1):
        yield json_row(Place(0, number), element, replace_surrogates)


def plain_rows(lines: Iterator[Line]) -> Iterator[TextRow]:
    """Yield a row for each line of plain text, with tabs between its turns."""
    for line in _not_blank(lines):
        yield TextRow(line.place, None if line.problem else {"turns": line.text.split("\t")}, line.problem)


def _not_blank(lines: Iterator[Line]) -> Iterator[Line]:
    return (line for line in lines if line.problem or line.text.strip())


class _Cells(NamedTuple):
    place: Place
    end: Place
    cells: Sequence[str]
    problem: str = ""


def read_header(path: str, lines: Iterator[Line], format: Format) -> Header | None:
    """Read the header from the lines of a table."""
    first = next(_not_blank(lines), None)
    if first is None:
        return None
    delimiter = "\t" if format == "tsv" else delimiter_of(first.text)
    head = next(_cell_rows(chain([first], lines), delimiter), None)
    if head is None:
        return None
    if head.problem:
        raise InputError(path, head.problem, row=head.place.line)
    names = [cell.strip() for cell in head.cells]
    if len(set(names)) != len(names):
        raise InputError(path, "names a column twice", row=head.place.line)
    return Header(names, head.end, delimiter)


def delimiter_of(header: str) -> str:
    """What separates the cells of a CSV file: commas, or, in a header without any, semicolons or vertical bars.

    >>> delimiter_of("id,text"), delimiter_of("id;text"), delimiter_of("id|text"), delimiter_of("text")
    (',', ';', '|', ',')
    """
    return next((delimiter for delimiter in ",;|" if delimiter in header), ",")


def table_rows(header: Header, lines: Iterator[Line]) -> Iterator[TextRow]:
    """Yield the rows of a table's lines after its header."""
    names = header.names
    for place, _, cells, problem in _cell_rows(lines, header.delimiter):
        if problem:
            yield TextRow(place, None, problem)
        elif len(cells) != len(names):
            wrong = f"expected {counted(len(names), 'column')}, found {len(cells)}"
            unquoted = header.delimiter == "," and len(cells) > len(names)
            yield TextRow(place, None, f"{wrong}; text with a comma needs quotation marks" if unquoted else wrong)
        else:
            yield TextRow(place, dict(zip(names, cells, strict=True)))


def _cell_rows(lines: Iterator[Line], delimiter: str) -> Iterator[_Cells]:
    """Yield rows of cells; a line that opens a quotation mark that is never closed is a broken row."""
    waiting: deque[Line] = deque()  # lines read while looking for a closing quotation mark
    while line := waiting.popleft() if waiting else next(lines, None):
        if line.problem:
            yield _Cells(line.place, line.end, (), line.problem)
        elif not line.text.strip(
            f" \t\r{delimiter}" if delimiter != "\t" else None
        ):  # spreadsheets end with rows of commas
            continue
        elif delimiter == "\t":  # tab-separated chat data are not quoted: a lone quotation mark is text
            yield _Cells(line.place, line.end, line.text.split("\t"))
        elif '"' not in line.text:
            yield _Cells(line.place, line.end, line.text.split(delimiter))
        else:
            yield _quoted(line, waiting, lines, delimiter)


def _quoted(first: Line, waiting: deque[Line], lines: Iterator[Line], delimiter: str) -> _Cells:
    """A row with quotation marks, which may span lines; the ones it uses are removed from `waiting`."""
    cells, problem = _parse_csv(first.text, delimiter)
    if cells is not None or first.text.count('"') % 2 == 0:
        return _Cells(first.place, first.end, cells or (), problem)
    joined = bytearray(first.raw)
    for number, line in enumerate(chain(tuple(waiting), _append_each(lines, waiting)), start=1):
        joined += line.raw
        if not line.raw or number > MAX_LINES or len(joined) > MAX_JOINED_BYTES:
            break
        if b'"' in line.raw and joined.count(b'"') % 2 == 0:
            try:
                cells, _ = _parse_csv(decode_line("", first.place.line, bytes(joined)), delimiter)
            except InputError:
                break
            if cells is not None:
                for _ in range(number):
                    waiting.popleft()
                return _Cells(first.place, line.end, cells)
    return _Cells(first.place, first.end, (), problem)


def _append_each(lines: Iterator[Line], waiting: deque[Line]) -> Iterator[Line]:
    for line in lines:
        waiting.append(line)
        yield line


def _parse_csv(text: str, delimiter: str) -> tuple[list[str] | None, str]:
    csv.field_size_limit(max(csv.field_size_limit(), MAX_ROW_BYTES))  # the module's own is 128 KiB
    try:
        return next(csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True)), ""
    except csv.Error as error:
        unclosed = text.count('"') % 2 == 1
        return None, "a quotation mark is not closed" if unclosed else f"is not a valid row ({error})"
