"""What planning needs to know about a file: the number and positions of its rows, and its columns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require
from emoscope.scoring.columns import Kinds, Schema, json_schema, merge_kinds, unify, value_kind
from emoscope.tables.files import open_parquet
from emoscope.tables.formats import compression_of
from emoscope.tables.inputs import InputFile
from emoscope.tables.rows import Line, Place, header_of, json_rows, line_after, read_lines, text_rows
from emoscope.tables.turns import row_dialogue, turn_columns

pa = require("pyarrow", extra="scale")

STEP = 1000  # rows between two marks
RANGE_BYTES = 1 << 26  # of a JSONL file that one process scans at a time
_PLAIN = frozenset({"null", "string", "strings"})
_SHAPES = 10_000


class Mark(NamedTuple):
    """The position of a row: its number in the file from 0, and its place."""

    row: int
    place: Place


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A file from one offset to another or to its end."""

    file: InputFile
    begin: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class RowSummary:
    """The rows of a file or a range of it: their number, marks for some of them, and the columns."""

    rows: int
    marks: Sequence[Mark] = ()
    schema: Schema = None
    kinds: Kinds = field(default_factory=dict)  # for JSON, whose columns are known only after all rows
    lines: int = 0
    groups: Sequence[int] = ()  # for Parquet, the rows of each row group


def byte_ranges(file: InputFile) -> list[ByteRange]:
    """The ranges to scan, which depend on the file alone: large JSONL files have several, others one."""
    if file.kind != "jsonl" or file.size <= RANGE_BYTES or compression_of(file.path) is not None:
        return [ByteRange(file)]
    return [ByteRange(file, begin, begin + RANGE_BYTES) for begin in range(0, file.size, RANGE_BYTES)]


def summarise(scanned: ByteRange) -> RowSummary | InputError:
    """Scan a range of text, or read the footer of a Parquet file; returns the error if that fails."""
    file = scanned.file
    try:
        if file.kind == "parquet":
            return _summarise_parquet(file)
        return _summarise_table(file) if file.kind in ("csv", "tsv") else _summarise_json(scanned)
    except InputError as error:
        return error


def join(summaries: Iterable[RowSummary]) -> RowSummary:
    """The summary of a file from those of its ranges."""
    rows, lines, marks = 0, 0, []
    kinds: Kinds = {}
    schema = None
    groups: Sequence[int] = ()
    for each in summaries:
        marks += [Mark(row + rows, Place(place.offset, place.line + lines)) for row, place in each.marks]
        rows, lines, schema, groups = rows + each.rows, lines + each.lines, each.schema, each.groups
        merge_kinds(kinds, each.kinds)
    return RowSummary(rows, marks, schema, kinds, lines, groups)


def _summarise_table(file: InputFile) -> RowSummary:
    rows, marks = 0, []
    for row in text_rows(file.path, file.kind):
        if rows % STEP == 0:
            marks.append(Mark(rows, row.place))
        rows += 1
    header = header_of(file.path, file.kind)
    return RowSummary(rows, marks, pa.schema([(name, pa.string()) for name in (header.names if header else ())]))


def _summarise_parquet(file: InputFile) -> RowSummary:
    with open_parquet(file.path) as table:
        footer = table.metadata
        groups = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
        return RowSummary(footer.num_rows, schema=table.schema_arrow, groups=groups)


def _summarise_json(scanned: ByteRange) -> RowSummary:
    """Summarise JSON, or plain lines, which are lists of turns. Lines are counted from 1 within the range."""
    path, kind = scanned.file.path, scanned.file.kind
    begin, end = line_after(path, scanned.begin), None if scanned.end is None else line_after(path, scanned.end)
    kinds: Kinds = {}
    shapes: set[tuple[tuple[str, str], ...]] = set()  # shapes of rows seen; most rows repeat one
    rows, marks = 0, []
    # Only the first line of a file may have a byte-order mark, so later ranges do not start with line 1.
    first, lines = 1 if begin == 0 else 2, 0

    def counted(stream: Iterator[Line]) -> Iterator[Line]:
        nonlocal lines
        for line in stream:
            lines += 1
            yield line

    start = Place(begin, first)
    for row in json_rows(counted(read_lines(path, start, end))) if kind == "jsonl" else text_rows(path, kind, start):
        if rows % STEP == 0 and (kind != "json" or rows == 0):  # an array is read from its beginning
            marks.append(Mark(rows, Place(row.place.offset, row.place.line - first + 1)))
        rows += 1
        if row.columns is not None:
            seen = {name: value_kind(value) for name, value in row.columns.items()}
            shape = tuple(seen.items())
            # A row that will be rejected does not affect the column types.
            if shape not in shapes and (_is_plain(seen) or _is_dialogue(row.columns)):
                merge_kinds(kinds, {name: (kind,) for name, kind in seen.items()})
                if len(shapes) < _SHAPES:
                    shapes.add(shape)
    return RowSummary(rows, marks, kinds=kinds, lines=lines)


def _is_plain(kinds: Mapping[str, str]) -> bool:
    return all(kinds[name] in _PLAIN for name in turn_columns(kinds))


def _is_dialogue(columns: Mapping[str, Any]) -> bool:
    try:
        row_dialogue(columns)
    except EmoscopeError:
        return False
    return True


def common_schema(summaries: Sequence[tuple[InputFile, RowSummary]]) -> Schema:
    """The output's columns: those of all files."""
    kinds: Kinds = {}
    for _, summary in summaries:
        merge_kinds(kinds, summary.kinds)
    merged = json_schema(kinds)
    schemas = []
    for file, summary in summaries:
        if file.kind in ("parquet", "csv", "tsv"):
            schemas.append((file.path, summary.schema))
        elif merged is not None:  # all JSON rows share one schema, at the position of their first file
            schemas.append((file.path, merged))
            merged = None
    return unify(schemas)
