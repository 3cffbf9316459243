"""Rows to tables: a whole file or none, or a pipe line by line."""

import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from emoscope.core.dialogue import Detection
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import atomic_write
from emoscope.tables.formats import PIPE, Format, format_of


def detection_columns(detection: Detection, taken: Iterable[str]) -> dict[str, Any]:
    """What a detection adds to a row: label, truncated, and a score per label; renamed where a column has the name.

    >>> detection_columns(Detection("sad", {"sad": 1.0}), ["label"])
    {'predicted_label': 'sad', 'truncated': False, 'score_sad': 1.0}
    """
    used = set(taken)
    made: dict[str, Any] = {"label": detection.label, "truncated": detection.truncated}
    made |= {f"score_{label}": round(score, 6) for label, score in detection.scores.items()}
    return {(f"predicted_{name}" if name in used else name): value for name, value in made.items()}


@contextmanager
def open_writer(path: str, given: str | None = None) -> Iterator["RowWriter"]:
    """A writer of rows that leaves a whole file or none; standard output for `-`."""
    kind = format_of(path, given) or "jsonl"
    if path == PIPE:
        if kind == "parquet":
            raise EmoscopeError("Parquet cannot be written to a pipe; give a file")
        yield RowWriter(sys.stdout, kind, flush=True)
        sys.stdout.flush()
        return
    if kind == "parquet":
        rows: list[dict[str, Any]] = []
        yield RowWriter(None, kind, rows=rows)
        with atomic_write(path, "wb") as handle:
            _write_parquet(handle, rows)
        return
    with atomic_write(path) as handle:
        yield RowWriter(handle, kind)


def _write_parquet(handle: IO[bytes], rows: list[dict[str, Any]]) -> None:
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(buffer)
    handle.write(buffer.getvalue())


class RowWriter:
    """Writes rows of the same columns in one format."""

    def __init__(
        self, handle: IO[str] | None, kind: Format, *, rows: list[dict[str, Any]] | None = None, flush: bool = False
    ) -> None:
        self._handle = handle
        self._kind = kind
        self._rows = rows
        self._flush = flush
        self._names: list[str] | None = None

    def write(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        if self._rows is not None:
            self._rows.append(dict(row))
        elif self._handle is not None:
            self._handle.write(self._line(row))
            if self._flush:
                self._handle.flush()

    def _line(self, row: Mapping[str, Any]) -> str:
        match self._kind:
            case "jsonl":
                return json.dumps(dict(row), ensure_ascii=False, default=str) + "\n"
            case "text":
                if set(row) == {"turns"}:  # a plain line again
                    return "\t".join(row["turns"]) + "\n"
                return str(row.get("predicted_label", row.get("label"))) + "\n"
        line = ""
        if self._names is None:
            self._names = list(row)
            line = self._delimited(self._names)
        return line + self._delimited([row.get(name) for name in self._names])

    def _delimited(self, cells: Sequence[Any]) -> str:
        values = [
            "" if cell is None else json.dumps(cell) if isinstance(cell, list | dict) else str(cell) for cell in cells
        ]
        if self._kind == "tsv":
            return "\t".join(re.sub(r"[\t\r\n]+", " ", value) for value in values) + "\n"
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerow(values)
        return buffer.getvalue()
