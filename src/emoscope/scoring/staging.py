"""Copies of inputs that can only be read from the start, so that they are read once and not once per part.

Reading cannot start in the middle of a Parquet row group, compressed text or a JSON array. If several parts would read
the same one, the file is first copied to Parquet with small row groups, beside the scores. Copies are removed at the
end.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from emoscope.core.errors import InputError, first_line
from emoscope.core.extras import require
from emoscope.parallel import Executor
from emoscope.parallel.threads import cores
from emoscope.scoring.output import STAGED, OutputFolder, staged_file
from emoscope.scoring.plan import PlannedFile, ScoringPlan
from emoscope.tables.files import open_parquet
from emoscope.tables.inputs import check_unchanged
from emoscope.tables.rows import Place, TextRow, text_rows

pa = require("pyarrow", extra="scale")
pq = require("pyarrow.parquet", extra="scale")

ROW_GROUP = 4096  # rows per group of a copy, at most a quarter of a part: a group that two parts share is read twice
WORTH_PROCESSES = 1 << 26  # bytes to copy from which starting workers pays off
_ROWS = pa.schema([("line", pa.int64()), ("columns", pa.string()), ("problem", pa.string())])


def stage_inputs(plan: ScoringPlan, output: OutputFolder, parts: Iterable[int], executor: Executor) -> None:
    """Create the missing copies that these parts will read."""
    present = output.sizes(STAGED)
    numbers = dict.fromkeys(rows.number for part in parts for rows in plan.row_ranges(part) if rows.file.staged)
    missing = [number for number in numbers if staged_file(number) not in present]
    if not missing:
        return
    if executor.ray_address is None:  # do not start Ray on this machine just for this
        small = sum(plan.files[number].source.size for number in missing) < WORTH_PROCESSES
        executor = Executor("local", 1 if small else min(executor.workers or cores(), len(missing)))
    for _ in executor.map(StagingTask(plan, output), missing):
        pass


@dataclass(frozen=True)
class StagingTask:
    """Copies files, by their numbers in the plan."""

    plan: ScoringPlan
    output: OutputFolder

    def __call__(self, number: int) -> None:
        file = self.plan.files[number]
        is_parquet = file.source.kind == "parquet"
        try:
            with self.output.write(staged_file(number)) as handle:
                rows = min(ROW_GROUP, -(-self.plan.part_rows // 4))
                _copy(_parquet_tables(file, rows) if is_parquet else _text_tables(file, rows), handle)
                check_unchanged(file.source)
        except InputError:
            if not is_parquet:
                raise
            check_unchanged(file.source)  # a damaged file is read without a copy, which recovers its intact rows


def _copy(tables: Iterator[Any], handle: IO[bytes]) -> None:
    """Write tables as row groups; the first is empty and gives the columns."""
    schema = next(tables).schema
    with pq.ParquetWriter(handle, schema, compression="zstd", write_page_checksum=True) as writer:
        for table in tables:
            writer.write_table(table)


def _parquet_tables(file: PlannedFile, rows: int) -> Iterator[Any]:
    path = file.source.path
    with open_parquet(path) as source:
        yield source.schema_arrow.empty_table()
        try:
            for batch in source.iter_batches(rows, use_threads=False):
                yield pa.table(batch)
        except (pa.ArrowException, OSError) as error:
            raise InputError(path, f"cannot be read ({first_line(error)})") from None


def _text_tables(file: PlannedFile, rows: int) -> Iterator[Any]:
    yield _ROWS.empty_table()
    stream = text_rows(file.source.path, file.source.kind)
    while batch := list(islice(stream, rows)):
        texts = [None if row.columns is None else json.dumps(row.columns, ensure_ascii=False) for row in batch]
        yield pa.table([[row.place.line for row in batch], texts, [row.problem for row in batch]], schema=_ROWS)


def staged_rows(path: str, first: int) -> Iterator[TextRow]:
    """The rows of copied text, from number `first`."""
    with open_parquet(path) as table:
        rows = table.metadata.row_group(0).num_rows  # the same in every group but the last
        for group in range(first // rows, table.num_row_groups):
            cells = table.read_row_group(group, use_threads=False).to_pydict()
            begin = max(0, first - group * rows)
            for line, columns, problem in islice(zip(*cells.values(), strict=True), begin, None):
                yield TextRow(Place(0, line), None if columns is None else json.loads(columns), problem)
