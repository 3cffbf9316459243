"""What must be known of a file before its rows can be shared out: how many there are, where they lie, its columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require
from emoscope.scoring.columns import Kinds, Schema, json_schema, merge_kinds, unify, value_kind
from emoscope.tables.inputs import Source
from emoscope.tables.text_rows import Place, count_lines, header_of, line_after, open_binary, text_rows
from emoscope.tables.turns import row_dialogue, turn_names

STEP = 1000  # rows between two places that are kept
STRETCH = 1 << 26  # bytes of a JSONL file that are looked through in one go, and by one process
_PLAIN = frozenset({"null", "string", "strings"})
_SHAPES = 10_000


class Mark(NamedTuple):
    """Where a row lies: its number in the file from 0, and its place."""

    row: int
    place: Place


@dataclass(frozen=True, slots=True)
class Stretch:
    """A file from one offset to another. Lines of JSON may be cut anywhere between; other files are one stretch."""

    source: Source
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Described:
    """The rows of a stretch, or a file: their number, the marks of some of them, and what decides the columns."""

    rows: int
    marks: Sequence[Mark] = ()
    schema: Schema = None
    kinds: Kinds = field(default_factory=dict)  # of JSON, whose columns are known only when all rows are
    lines: int = 0


def stretches(source: Source) -> list[Stretch]:
    """A file in stretches that depend on nothing but its size."""
    step = STRETCH if source.kind == "jsonl" else max(1, source.size)
    begins = range(0, max(1, source.size), step)
    return [Stretch(source, begin, min(source.size, begin + step)) for begin in begins]


def describe(stretch: Stretch) -> Described | InputError:
    """Look through a stretch of text; of a Parquet file read what stands at its end. Or the reason why that fails."""
    source = stretch.source
    try:
        if source.kind == "parquet":
            return _parquet(source)
        return _jsonl(stretch) if source.kind == "jsonl" else _delimited(source)
    except InputError as error:
        return error
    except OSError as error:
        return InputError(source.path, f"cannot be read ({error.strerror or error})")


def join(described: Iterable[Described]) -> Described:
    """What is known of a file, from what is known of its stretches."""
    rows, lines, marks = 0, 0, []
    kinds: Kinds = {}
    schema = None
    for each in described:
        marks += [Mark(row + rows, Place(place.offset, place.line + lines)) for row, place in each.marks]
        rows, lines, schema = rows + each.rows, lines + each.lines, each.schema
        merge_kinds(kinds, each.kinds)
    return Described(rows, marks, schema, kinds, lines)


def _delimited(source: Source) -> Described:
    pa = require("pyarrow", extra="scale")
    rows, marks = 0, []
    for row in text_rows(source.path, source.kind):
        if rows % STEP == 0:
            marks.append(Mark(rows, row.place))
        rows += 1
    return Described(rows, marks, pa.schema([(name, pa.string()) for name in header_of(source.path, source.kind)]))


def _parquet(source: Source) -> Described:
    pa = require("pyarrow", extra="scale")
    pq = require("pyarrow.parquet", extra="scale")
    try:
        with open_binary(source.path) as handle, pq.ParquetFile(handle) as file:
            return Described(file.metadata.num_rows, schema=file.schema_arrow)
    except (pa.ArrowException, OSError) as error:
        problem = (str(error).splitlines() or ["?"])[0]
        raise InputError(source.path, f"is not a readable Parquet file ({problem})") from None


def _jsonl(stretch: Stretch) -> Described:
    """Lines are counted from 1 within the stretch."""
    path = stretch.source.path
    begin, end = line_after(path, stretch.begin), line_after(path, stretch.end)
    kinds: Kinds = {}
    shapes: set[tuple[tuple[str, str], ...]] = set()  # of rows: most are like one before
    rows, marks = 0, []
    # Only the first line of a file may have a byte-order mark, so that of a later stretch is not called the first.
    first = 1 if begin == 0 else 2
    for row in text_rows(path, "jsonl", Place(begin, first), end):
        if rows % STEP == 0:
            marks.append(Mark(rows, Place(row.place.offset, row.place.line - first + 1)))
        rows += 1
        if row.columns is not None:
            seen = {name: value_kind(value) for name, value in row.columns.items()}
            shape = tuple(seen.items())
            # A row that will be refused has no say in what type a column is.
            if shape not in shapes and (_is_plain(seen) or _is_dialogue(row.columns)):
                merge_kinds(kinds, {name: (kind,) for name, kind in seen.items()})
                if len(shapes) < _SHAPES:
                    shapes.add(shape)
    return Described(rows, marks, kinds=kinds, lines=count_lines(path, begin, end))


def _is_plain(kinds: Mapping[str, str]) -> bool:
    return all(kinds[name] in _PLAIN for name in turn_names(tuple(kinds)))


def _is_dialogue(columns: Mapping[str, Any]) -> bool:
    try:
        row_dialogue(columns)
    except EmoscopeError:
        return False
    return True


def common_schema(described: Sequence[tuple[Source, Described]]) -> Schema:
    """The output's columns: those of all files."""
    kinds: Kinds = {}
    for _, each in described:
        merge_kinds(kinds, each.kinds)
    merged = json_schema(kinds)
    schemas = []
    for source, each in described:
        if source.kind != "jsonl":
            schemas.append((source.path, each.schema))
        elif merged is not None:  # all JSON rows have one schema; it stands where the first of their files does
            schemas.append((source.path, merged))
            merged = None
    return unify(schemas)
