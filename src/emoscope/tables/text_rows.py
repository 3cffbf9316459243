"""Rows of text tables with the place where each begins, so that reading may start in the middle of a file.

A row that cannot be understood is a row all the same: it comes with its problem instead of its columns.
"""

import csv
import io
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import IO, Any, NamedTuple

from emoscope.core.errors import InputError
from emoscope.core.files import MAX_LINE_BYTES, decode_line
from emoscope.tables.inputs import Kind, file_system

# A quoted cell may run over lines. One that is never closed must not swallow the file.
MAX_LINES = 1000


class Place(NamedTuple):
    """Where a row begins: bytes before it, and the number of its line from 1."""

    offset: int
    line: int


class TextRow(NamedTuple):
    """A row: where it begins, its columns, and, if it has none, why."""

    place: Place
    columns: Mapping[str, Any] | None
    problem: str = ""


class _Line(NamedTuple):
    place: Place
    raw: bytes  # empty if the line was too long to be kept


def open_binary(path: str) -> IO[bytes]:
    """A file anywhere, to read bytes and lines from."""
    system, inner = file_system(path)
    opened = system.open(inner, "rb")
    return opened if isinstance(opened, io.BufferedReader) else io.BufferedReader(opened, 1 << 20)


def text_rows(path: str, kind: Kind, start: Place | None = None, end: int | None = None) -> Iterator[TextRow]:
    r"""The rows of a file from a place on, by default from its beginning; blank lines are not rows.

    With `end`, those of JSON that begin before so many bytes.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = file.write_text('{"text": "hi"}\n\n{"text":\n')
    >>> [(row.place.line, row.columns, row.problem != "") for row in text_rows(str(file), "jsonl")]
    [(1, {'text': 'hi'}, False), (3, None, True)]
    """
    with open_binary(path) as handle:
        if kind == "jsonl":
            lines = _lines(handle, start or Place(0, 1))
            yield from _json_rows(lines if end is None else takewhile(lambda line: line.place.offset < end, lines))
            return
        head = next(_cell_rows(_lines(handle, Place(0, 1)), kind), None)
        if head is None:
            return
        header, after = _header(path, head)
        if start is None or start.offset < after.offset:
            start = after
        handle.seek(start.offset)
        yield from _table_rows(header, _cell_rows(_lines(handle, start), kind))


def header_of(path: str, kind: Kind) -> list[str]:
    """The names of a delimited table's columns; none if the file is empty."""
    with open_binary(path) as handle:
        head = next(_cell_rows(_lines(handle, Place(0, 1)), kind), None)
    return [] if head is None else _header(path, head)[0]


def line_after(path: str, offset: int) -> int:
    """Where the first line begins that begins at an offset or after it.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = file.write_bytes(b"ab\\ncd\\n")
    >>> [line_after(str(file), offset) for offset in (0, 1, 3, 4)]
    [0, 3, 3, 6]
    """
    if offset == 0:
        return 0
    with open_binary(path) as handle:
        handle.seek(offset - 1)
        while raw := handle.readline(MAX_LINE_BYTES):
            offset += len(raw)
            if raw.endswith(b"\n"):
                break
    return offset - 1


def count_lines(path: str, begin: int, end: int) -> int:
    """How many lines end between two offsets."""
    total = 0
    with open_binary(path) as handle:
        handle.seek(begin)
        while begin < end and (block := handle.read(min(1 << 20, end - begin))):
            total += block.count(b"\n")
            begin += len(block)
    return total


def _lines(handle: IO[bytes], start: Place) -> Iterator[_Line]:
    if handle.tell() != start.offset:
        handle.seek(start.offset)
    offset, line = start
    while raw := handle.readline(MAX_LINE_BYTES + 1):
        place = Place(offset, line)
        offset, line = offset + len(raw), line + 1
        if len(raw) <= MAX_LINE_BYTES:
            yield _Line(place, raw)
            continue
        while raw and not raw.endswith(b"\n"):
            raw = handle.readline(MAX_LINE_BYTES)
            offset += len(raw)
        yield _Line(place, b"")


def _text(line: _Line) -> str:
    if not line.raw:
        raise InputError("", f"line is longer than {MAX_LINE_BYTES:,} bytes")
    return decode_line("", line.place.line, line.raw)


def _json_rows(lines: Iterator[_Line]) -> Iterator[TextRow]:
    for line in lines:
        try:
            text = _text(line)
            if not text.strip():
                continue
            value = json.loads(text)
        except InputError as error:
            yield TextRow(line.place, None, error.problem)
            continue
        except (ValueError, RecursionError) as error:
            yield TextRow(line.place, None, f"is not valid JSON ({error})")
            continue
        if isinstance(value, list | str):
            value = {"turns": [value] if isinstance(value, str) else value}
        if not isinstance(value, dict):
            yield TextRow(line.place, None, "expected an object or a list of turns")
        elif "\\u" in text and not _is_text(value):
            yield TextRow(line.place, None, "holds half of a surrogate pair, which is not text")
        else:
            yield TextRow(line.place, value)


def _is_text(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class _Cells(NamedTuple):
    place: Place
    after: Place
    cells: Sequence[str]
    problem: str = ""


def _cell_rows(lines: Iterator[_Line], kind: Kind) -> Iterator[_Cells]:
    """Rows of cells. Where a quotation mark is not closed, the line that opened it is a broken row of its own."""
    waiting: deque[_Line] = deque()
    while True:
        line = waiting.popleft() if waiting else next(lines, None)
        if line is None:
            return
        try:
            text = _text(line)
        except InputError as error:
            yield _Cells(line.place, _after(line), (), error.problem)
            continue
        if not text.strip():
            continue
        if kind == "tsv":  # tab-separated chat data are not quoted: a lone quotation mark is text
            yield _Cells(line.place, _after(line), text.split("\t"))
        elif '"' not in text:
            yield _Cells(line.place, _after(line), text.split(","))
        else:
            yield _quoted(line, text, waiting, lines)


def _quoted(first: _Line, text: str, waiting: deque[_Line], lines: Iterator[_Line]) -> _Cells:
    """A row with quotation marks, which may take further lines: those of `waiting` that are taken are removed."""
    cells, problem = _parsed(text)
    if cells is not None or text.count('"') % 2 == 0:
        return _Cells(first.place, _after(first), cells or (), problem)
    joined, ends = bytearray(first.raw), 0
    for number, line in enumerate(chain(tuple(waiting), _held(lines, waiting)), start=1):
        joined += line.raw
        if not line.raw or number > MAX_LINES or len(joined) > MAX_LINE_BYTES:
            break
        if b'"' in line.raw and joined.count(b'"') % 2 == 0:
            try:
                cells, _ = _parsed(decode_line("", first.place.line, bytes(joined)))
            except InputError:
                break
            if cells is not None:
                ends = number
                break
    if cells is None:
        return _Cells(first.place, _after(first), (), problem)
    taken = [waiting.popleft() for _ in range(ends)]
    return _Cells(first.place, _after(taken[-1]), cells)


def _held(lines: Iterator[_Line], waiting: deque[_Line]) -> Iterator[_Line]:
    for line in lines:
        waiting.append(line)
        yield line


def _parsed(text: str) -> tuple[list[str] | None, str]:
    try:
        return next(csv.reader(io.StringIO(text, newline="\n"), strict=True)), ""
    except csv.Error as error:
        return None, f"is not a valid row ({error})"


def _after(line: _Line) -> Place:
    return Place(line.place.offset + len(line.raw), line.place.line + 1)


def _header(path: str, head: _Cells) -> tuple[list[str], Place]:
    if head.problem:
        raise InputError(path, head.problem, row=head.place.line)
    names = [cell.strip() for cell in head.cells]
    if len(set(names)) != len(names):
        raise InputError(path, "names a column twice", row=head.place.line)
    return names, head.after


def _table_rows(header: Sequence[str], rows: Iterator[_Cells]) -> Iterator[TextRow]:
    for place, _, cells, problem in rows:
        if problem:
            yield TextRow(place, None, problem)
        elif len(cells) != len(header):
            yield TextRow(place, None, f"expected {len(header)} columns, found {len(cells)}")
        else:
            yield TextRow(place, dict(zip(header, cells, strict=True)))
