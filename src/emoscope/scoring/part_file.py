"""The Parquet file of a part: the input's columns, the detections, and the part's counts in the footer."""

import json
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.detector.detector import Answers
from emoscope.scoring.columns import Schema
from emoscope.scoring.output import OutputFolder
from emoscope.tables.files import open_parquet
from emoscope.tables.writing import detection_names

pa = require("pyarrow", extra="scale")
pq = require("pyarrow.parquet", extra="scale")

FOOTER = "emoscope"  # the metadata key of a part's counts
ROW_GROUP = 16_384


class PartWriter:
    """Writes tables with their detections in row groups of equal size, with at most one in memory."""

    def __init__(self, handle: IO[bytes], schema: Schema, labels: Sequence[str]) -> None:
        label, truncated, note, *scores = detection_names(labels, schema.names)
        added = [(label, pa.string()), (truncated, pa.bool_()), (note, pa.string())]
        added += [(name, pa.float32()) for name in scores]
        self._schema = pa.schema([*schema, *(pa.field(*column) for column in added)])
        self._labels = pa.array(labels, pa.string())
        self._writer = pq.ParquetWriter(handle, self._schema, compression="zstd")
        self._waiting: list[Any] = []
        self._rows = 0

    def write(self, table: Any, answers: Answers, chosen: NDArray[np.int64]) -> None:
        arrays = [
            *table.columns,
            self._labels.take(pa.array(chosen, pa.int64())),
            pa.array(answers.truncated, pa.bool_()),
            pa.array(answers.notes, pa.string()),
            *(pa.array(column.astype(np.float32)) for column in answers.probabilities.T),
        ]
        self._waiting.append(pa.table(arrays, schema=self._schema))
        self._rows += len(table)
        while self._rows >= ROW_GROUP:
            self._flush(ROW_GROUP)

    def sign(self, counts: Mapping[str, Any]) -> None:
        """Write the remaining rows and the counts."""
        if self._rows:
            self._flush(self._rows)
        self._writer.add_key_value_metadata({FOOTER: json.dumps(counts)})

    def _flush(self, rows: int) -> None:
        whole = pa.concat_tables(self._waiting)
        self._writer.write_table(whole.slice(0, rows), row_group_size=rows)
        self._rows -= rows
        self._waiting = [whole.slice(rows)] if self._rows else []

    def close(self) -> None:
        self._writer.close()


def read_footer(output: OutputFolder, name: str) -> dict[str, Any] | None:
    """A part's counts; None if the file is not a complete part."""
    try:
        with open_parquet(output.at(name)) as file:
            counts = json.loads((file.metadata.metadata or {})[FOOTER.encode()])
    except (pa.ArrowException, EmoscopeError, KeyError, ValueError):
        return None
    return counts if isinstance(counts, dict) else None
