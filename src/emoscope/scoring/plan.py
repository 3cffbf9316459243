"""How the rows of a run are divided into parts, which depends on the inputs alone.

The same inputs give the same parts with any engine and number of workers. So a stopped run resumes with the missing
parts, and two runs write the same files.
"""

import base64
import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate, chain, islice
from typing import Any

from pydantic import TypeAdapter

from emoscope.core.errors import InputError
from emoscope.core.extras import require
from emoscope.parallel import Executor
from emoscope.scoring.columns import Schema
from emoscope.scoring.summary import RANGE_BYTES, Mark, RowSummary, byte_ranges, common_schema, join, summarise
from emoscope.tables.formats import compression_of
from emoscope.tables.inputs import InputFile
from emoscope.tables.turns import EXPECTED, turn_columns

pa = require("pyarrow", extra="scale")

FORMAT = "emoscope-score-1"
# Enough parts to keep many workers busy, none so large that losing one to a kill costs much.
PARTS, LEAST, MOST = 64, 1000, 50_000
_OPENED_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file and the positions of its rows."""

    source: InputFile
    rows: int
    marks: Sequence[Mark]
    groups: Sequence[int] = ()  # rows of Parquet row groups, which are not split; empty if parts may start at any row
    staged: bool = False  # read from a copy, because reading cannot start in the middle


@dataclass(frozen=True, slots=True)
class RowRange:
    """`count` rows of one file, from number `first` (from 0)."""

    file: PlannedFile
    first: int
    count: int
    number: int  # the file's number in the plan


@dataclass(frozen=True)
class ScoringPlan:
    """Everything that determines the output."""

    settings: Mapping[str, Any]
    files: Sequence[PlannedFile]
    unreadable: Sequence[tuple[str, str]]  # path and reason
    part_rows: int
    schema: Schema

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(file.rows for file in self.files))

    @property
    def rows(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def parts(self) -> int:
        return len(self._borders) - 1

    @cached_property
    def _borders(self) -> list[int]:
        """The first row of each part and the end of the last; a part is shorter if that keeps a row group whole."""
        borders, row = [0], 0
        for file in self.files:
            end = row + file.rows
            for group in file.groups:
                if row > borders[-1] and row + group - borders[-1] > self.part_rows:
                    borders.append(row)
                row += group
            borders += range(borders[-1] + self.part_rows, end + 1, self.part_rows)
            row = end
        return borders if borders[-1] == row else [*borders, row]

    def part_size(self, part: int) -> int:
        """How many rows a part has."""
        return self._borders[part + 1] - self._borders[part]

    def row_ranges(self, part: int) -> Iterator[RowRange]:
        """The rows of a part, file by file."""
        first, last = self._borders[part : part + 2]
        number = bisect_right(self._ends, first)
        while first < last:
            end = min(last, self._ends[number])
            if end > first:
                file = self.files[number]
                yield RowRange(file, first - (self._ends[number] - file.rows), end - first, number)
            first, number = end, number + 1

    @cached_property
    def fingerprint(self) -> str:
        """A hash that two runs share if and only if they write the same parts."""
        content = {**self.as_dict(), "files": [asdict(file.source) for file in self.files]}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "settings": dict(self.settings),
            "part_rows": self.part_rows,
            "schema": base64.b64encode(self.schema.serialize().to_pybytes()).decode(),
            "unreadable": [list(pair) for pair in self.unreadable],
            "files": [asdict(file) for file in self.files],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ScoringPlan":
        """Read what `as_dict` gave."""
        files = TypeAdapter(list[PlannedFile]).validate_python(content["files"])
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(content["schema"])))
        unreadable = [(path, reason) for path, reason in content["unreadable"]]
        return cls(content["settings"], files, unreadable, content["part_rows"], schema)


def make_plan(
    files: Sequence[InputFile],
    settings: Mapping[str, Any],
    *,
    part_rows: int | None = None,
    strict: bool = False,
    workers: int = 1,
) -> ScoringPlan:
    """Scan the files, in several processes if that is faster, and divide their rows into parts.

    With `strict`, a file that cannot be read is an error.
    """
    summaries: list[tuple[InputFile, RowSummary]] = []
    unreadable = []
    for file, summary in zip(files, _summarise(files, workers), strict=True):
        if isinstance(summary, RowSummary):
            summaries.append((file, summary))
        elif strict:
            raise summary
        else:
            unreadable.append((file.path, summary.problem))
    if not summaries:
        raise InputError(*unreadable[0])
    tables = [(file, summary.schema) for file, summary in summaries if summary.rows]
    if tables and all(schema is not None and not turn_columns(schema.names) for _, schema in tables):
        file, schema = tables[0]  # no file has turns: the user meant something else
        raise InputError(file.path, f"{EXPECTED}; found: {', '.join(schema.names)}")
    rows = sum(summary.rows for _, summary in summaries)
    part_rows = part_rows or usual_part_rows(rows)
    planned = [_planned_file(file, summary, part_rows) for file, summary in summaries]
    return ScoringPlan(settings, planned, unreadable, part_rows, common_schema(summaries))


def _planned_file(file: InputFile, summary: RowSummary, part_rows: int) -> PlannedFile:
    """Small row groups stay whole; a file that must be read from its start is copied if several parts need it."""
    if file.kind == "parquet":
        large = max(summary.groups, default=0) > part_rows
        return PlannedFile(file, summary.rows, (), () if large else summary.groups, large)
    staged = summary.rows > part_rows and (file.kind == "json" or compression_of(file.path) is not None)
    return PlannedFile(file, summary.rows, summary.marks, staged=staged)


def usual_part_rows(rows: int) -> int:
    """The default number of rows per part, a multiple of 1,000.

    >>> usual_part_rows(10_000), usual_part_rows(100_000), usual_part_rows(10**7)
    (1000, 2000, 50000)
    """
    return min(MOST, max(LEAST, -(-rows // (PARTS * LEAST)) * LEAST))


def _summarise(files: Sequence[InputFile], workers: int) -> Iterator[RowSummary | InputError]:
    """A summary of each file, in processes for large text, in threads for Parquet footers, which only take waiting."""
    ranges = [byte_ranges(file) for file in files]
    text_bytes = sum(file.size for file in files if file.kind != "parquet")
    with ThreadPoolExecutor(_OPENED_AT_ONCE) as threads:
        every = list(chain.from_iterable(ranges))
        if workers > 1 and text_bytes > RANGE_BYTES:
            summaries = Executor(workers=min(workers, text_bytes // RANGE_BYTES + 1)).map(summarise, every)
        else:
            summaries = threads.map(summarise, every)
        for file in ranges:
            results = list(islice(summaries, len(file)))
            problem = next((result for result in results if isinstance(result, InputError)), None)
            yield problem or join(result for result in results if isinstance(result, RowSummary))
