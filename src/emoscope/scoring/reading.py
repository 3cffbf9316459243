"""Reads the rows of a part in chunks: dialogues to score, their other columns, and rows that cannot be scored."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from operator import attrgetter
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError, first_line
from emoscope.core.extras import require
from emoscope.scoring.columns import Schema, json_array
from emoscope.scoring.output import OutputFolder, staged_file
from emoscope.scoring.plan import RowRange, ScoringPlan
from emoscope.scoring.staging import staged_rows
from emoscope.tables.files import open_parquet
from emoscope.tables.inputs import check_unchanged
from emoscope.tables.rows import TextRow, text_rows
from emoscope.tables.turns import dialogue_of, row_dialogue, turn_columns

pa = require("pyarrow", extra="scale")

CHUNK = 4096  # rows that are read and scored together
# The footer of the last Parquet file and the first rows of its row groups, kept because large footers parse slowly.
_footers: dict[tuple[str, str], tuple[Any, list[int]]] = {}


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that is not scored: its file, its line (in Parquet its number from 1), and the reason."""

    file: str
    row: int
    reason: str

    def error(self) -> InputError:
        return InputError(self.file, self.reason, row=self.row)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of a file read together: a table, a dialogue and a row number for each of its rows, and the rejects."""

    file: str
    table: Any
    dialogues: Sequence[Dialogue]
    rows: Sequence[int]
    rejects: Sequence[Reject]

    def without(self, problems: Mapping[int, str]) -> "Chunk":
        """The chunk with the dialogues at these positions moved to the rejects."""
        if not problems:
            return self
        kept = [place for place in range(len(self.dialogues)) if place not in problems]
        rejects = [Reject(self.file, self.rows[place], problem) for place, problem in problems.items()]
        return Chunk(
            self.file,
            self.table.take(pa.array(kept, pa.int64())),
            [self.dialogues[place] for place in kept],
            [self.rows[place] for place in kept],
            sorted([*self.rejects, *rejects], key=attrgetter("row")),
        )


def read_part(plan: ScoringPlan, part: int, output: OutputFolder | None = None) -> Iterator[Chunk]:
    """Yield the rows of a part, each either in a chunk's table or among its rejects.

    If there is a copy of a file in `output`, that is read.
    """
    for rows in plan.row_ranges(part):
        copy = staged_file(rows.number)
        staged = output.at(copy) if rows.file.staged and output is not None and output.has(copy) else None
        yield from (_read_parquet if rows.file.source.kind == "parquet" else _read_text)(rows, plan.schema, staged)
        check_unchanged(rows.file.source)


def _read_text(rows: RowRange, schema: Schema, staged: str | None) -> Iterator[Chunk]:
    source, left = rows.file.source, rows.count
    chosen = islice(_rows_of_text(rows) if staged is None else staged_rows(staged, rows.first), rows.count)
    while chunk := list(islice(chosen, CHUNK)):
        left -= len(chunk)
        yield _text_chunk(source.path, chunk, schema)
    if left:
        raise InputError(source.path, "has fewer rows than when the run began")


def _rows_of_text(rows: RowRange) -> Iterator[TextRow]:
    source, marks = rows.file.source, rows.file.marks
    mark = marks[bisect_right(marks, rows.first, key=attrgetter("row")) - 1]
    return islice(text_rows(source.path, source.kind, mark.place), rows.first - mark.row, None)


def _text_chunk(path: str, rows: Sequence[TextRow], schema: Schema) -> Chunk:
    dialogues, kept, numbers, rejects = [], [], [], []
    for row in rows:
        if row.columns is None:
            rejects.append(Reject(path, row.place.line, row.problem))
            continue
        try:
            dialogues.append(row_dialogue(row.columns))
        except EmoscopeError as error:
            rejects.append(Reject(path, row.place.line, str(error)))
        else:
            kept.append(row.columns)
            numbers.append(row.place.line)
    arrays = [json_array([columns.get(field.name) for columns in kept], field.type) for field in schema]
    return Chunk(path, pa.table(arrays, schema=schema), dialogues, numbers, rejects)


def _read_parquet(rows: RowRange, schema: Schema, staged: str | None) -> Iterator[Chunk]:
    """Read row group by row group; rows of a damaged group are rejected, and reading continues with the next.

    The small groups of a copy are read together.
    """
    path = rows.file.source.path
    first, last = rows.first, rows.first + rows.count
    try:
        key = (staged or path, rows.file.source.stamp)
        footer, begins = _footers.get(key, (None, []))
        with open_parquet(key[0], footer) as file:
            if footer is None:
                sizes = (file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))
                begins = list(accumulate(sizes, initial=0))
                _footers.clear()
                _footers[key] = file.metadata, begins
            if begins[-1] < last:
                raise InputError(path, "has fewer rows than when the run began")
            groups = range(bisect_right(begins, first) - 1, bisect_left(begins, last))
            for some in [groups] if staged else [range(group, group + 1) for group in groups]:
                wanted = max(first, begins[some.start]), min(last, begins[some.stop])
                yield from _row_groups(path, file, some, begins[some.start], wanted, schema)
    except pa.ArrowException as error:
        raise InputError(path, f"cannot be read ({first_line(error)})") from None


def _row_groups(
    path: str, file: Any, groups: Sequence[int], row: int, rows: tuple[int, int], schema: Schema
) -> Iterator[Chunk]:
    """Rows `rows[0]` to `rows[1]` of row groups whose first row is number `row`."""
    done, last = rows
    problem = "is missing from its row group"
    try:
        for batch in file.iter_batches(CHUNK, row_groups=groups, use_threads=False):
            chosen = batch.slice(max(0, done - row), last - max(done, row)) if row + len(batch) > done else None
            row += len(batch)
            if chosen is not None and len(chosen):
                yield _parquet_chunk(path, pa.table(chosen), done, schema)
                done += len(chosen)
            if done == last:
                return
    except (pa.ArrowException, OSError) as error:
        problem = f"cannot be read ({first_line(error)})"
    while done < last:
        end = min(last, done + CHUNK)
        missing = [Reject(path, number + 1, problem) for number in range(done, end)]
        yield Chunk(path, schema.empty_table(), [], [], missing)
        done = end


def _parquet_chunk(path: str, table: Any, first: int, schema: Schema) -> Chunk:
    dialogues, kept, rejects = [], [], []
    names = turn_columns(table.column_names)
    columns = [_values(table.column(name)) for name in names]
    for number in range(len(table)):
        try:
            dialogues.append(dialogue_of(names, [_cell(column, number) for column in columns]))
        except EmoscopeError as error:
            rejects.append(Reject(path, first + number + 1, str(error)))
        else:
            kept.append(number)
    if rejects:
        table = table.take(pa.array(kept, pa.int64()))
    arrays = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    rows = [first + number + 1 for number in kept]
    return Chunk(path, pa.table(arrays, schema=schema), dialogues, rows, rejects)


def _values(column: Any) -> Any:
    try:
        return column.to_pylist()
    except UnicodeDecodeError:  # `_cell` finds out which one
        return column


def _cell(column: Any, number: int) -> Any:
    try:
        return column[number].as_py() if isinstance(column, pa.ChunkedArray) else column[number]
    except UnicodeDecodeError:
        raise EmoscopeError("a turn is not valid UTF-8") from None
