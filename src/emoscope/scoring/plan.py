"""How a run's rows are shared out: parts of so many rows, whose borders depend on the inputs alone.

The same inputs give the same parts whatever the number of workers and the engine. So a run that was stopped goes on
with the parts that are missing, and two runs write the same files.
"""

import base64
import hashlib
import json
import multiprocessing
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate, islice
from typing import Any

from emoscope.core.errors import InputError
from emoscope.core.extras import require
from emoscope.scoring.columns import Schema
from emoscope.scoring.describe import STRETCH, Described, Mark, common_schema, describe, join, stretches
from emoscope.tables import turn_columns
from emoscope.tables.inputs import Source
from emoscope.tables.text_rows import Place
from emoscope.tables.turns import EXPECTED

FORMAT = "emoscope-score-1"
# Enough parts to keep many workers busy to the end, none so large that a part lost to a kill costs much.
PARTS, LEAST, MOST = 64, 1000, 50_000
_OPENED_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file and where its rows lie."""

    source: Source
    rows: int
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows of one file, `count` of them from number `first` (from 0) on."""

    file: PlannedFile
    first: int
    count: int


@dataclass(frozen=True)
class Plan:
    """Everything that decides what the output is."""

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
        """How many rows there are to score."""
        return self._ends[-1] if self._ends else 0

    @property
    def parts(self) -> int:
        """How many parts they are shared out to."""
        return -(-self.rows // self.part_rows)

    def slices(self, part: int) -> Iterator[Slice]:
        """The rows of a part, file by file."""
        first, last = part * self.part_rows, min(self.rows, (part + 1) * self.part_rows)
        number = bisect_right(self._ends, first)
        while first < last:
            end = min(last, self._ends[number])
            if end > first:
                file = self.files[number]
                yield Slice(file, first - (self._ends[number] - file.rows), end - first)
            first, number = end, number + 1

    @cached_property
    def fingerprint(self) -> str:
        """What two runs have in common if, and only if, they write the same parts."""
        content = {**self.as_dict(), "files": [asdict(file.source) for file in self.files]}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": FORMAT,
            "settings": dict(self.settings),
            "part_rows": self.part_rows,
            "schema": base64.b64encode(self.schema.serialize().to_pybytes()).decode(),
            "unreadable": [list(pair) for pair in self.unreadable],
            "files": [asdict(file) for file in self.files],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Plan":
        """What `as_dict` gave."""
        pa = require("pyarrow", extra="scale")
        files = [
            PlannedFile(Source(**file["source"]), file["rows"], [Mark(row, Place(*at)) for row, at in file["marks"]])
            for file in content["files"]
        ]
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(content["schema"])))
        unreadable = [(path, reason) for path, reason in content["unreadable"]]
        return cls(content["settings"], files, unreadable, content["part_rows"], schema)


def make_plan(
    sources: Sequence[Source],
    settings: Mapping[str, Any],
    *,
    part_rows: int | None = None,
    strict: bool = False,
    workers: int = 1,
) -> Plan:
    """Look through the files, with several processes if that pays, and share out their rows.

    `strict` ends at a file that cannot be read.
    """
    described: list[tuple[Source, Described]] = []
    unreadable = []
    for source, found in zip(sources, _look_through(sources, workers), strict=True):
        if isinstance(found, Described):
            described.append((source, found))
        elif strict:
            raise found
        else:
            unreadable.append((source.path, found.problem))
    if not described:
        raise InputError(*unreadable[0])
    _check_columns(described)
    rows = sum(found.rows for _, found in described)
    files = [PlannedFile(source, found.rows, found.marks) for source, found in described]
    return Plan(settings, files, unreadable, part_rows or usual_part_rows(rows), common_schema(described))


def usual_part_rows(rows: int) -> int:
    """The rows of a part, in thousands, where the user does not say.

    >>> usual_part_rows(10_000), usual_part_rows(100_000), usual_part_rows(10**7)
    (1000, 2000, 50000)
    """
    return min(MOST, max(LEAST, -(-rows // (PARTS * LEAST)) * LEAST))


def _look_through(sources: Sequence[Source], workers: int) -> Iterator[Described | InputError]:
    """What is known of each file. Text takes computing, so large text gets processes; Parquet takes waiting only."""
    pieces = [stretches(source) for source in sources]
    text = sum(source.size for source in sources if source.kind != "parquet")
    context = multiprocessing.get_context("spawn")
    pool: Executor = (
        ProcessPoolExecutor(min(workers, text // STRETCH + 1), context)
        if workers > 1 and text > STRETCH
        else ThreadPoolExecutor(_OPENED_AT_ONCE)
    )
    with pool:
        found = pool.map(describe, [piece for file in pieces for piece in file])
        for file in pieces:
            yield _joined(list(islice(found, len(file))))


def _joined(found: Sequence[Described | InputError]) -> Described | InputError:
    whole = [each for each in found if isinstance(each, Described)]
    return join(whole) if len(whole) == len(found) else next(each for each in found if isinstance(each, InputError))


def _check_columns(described: Sequence[tuple[Source, Described]]) -> None:
    """Where no file could hold a single turn, the user meant something else."""
    tables = [(source, found) for source, found in described if found.rows]
    if tables and all(found.schema is not None and not turn_columns(found.schema.names) for _, found in tables):
        source, found = tables[0]
        raise InputError(source.path, f"{EXPECTED}; found {found.schema.names}")
