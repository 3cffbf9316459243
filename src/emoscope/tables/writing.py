"""Write rows to tables: to a file, whole or not at all, or to a pipe line by line."""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from emoscope.core.dialogue import Detection
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.tables.files import atomic_write_compressed
from emoscope.tables.formats import PIPE, SUFFIXES, Format, format_of, suffix_format


def detection_columns(detection: Detection, taken: Iterable[str]) -> dict[str, Any]:
    """The columns that a detection adds to a row.

    >>> detection_columns(Detection("sad", {"sad": 1.0}), ["label"])
    {'predicted_label': 'sad', 'truncated': False, 'note': None, 'score_sad': 1.0}
    """
    names = detection_names(detection.scores, taken)
    scores = (round(score, 6) for score in detection.scores.values())
    return dict(zip(names, (detection.label, detection.truncated, detection.note, *scores), strict=True))


def detection_names(labels: Iterable[str], taken: Iterable[str]) -> list[str]:
    """The names of the added columns: label, truncated, note, a score per label; with a prefix if the name is taken.

    >>> detection_names(["sad"], ["id", "label"])
    ['predicted_label', 'truncated', 'note', 'score_sad']
    """
    used = set(taken)
    names = ("label", "truncated", "note", *(f"score_{label}" for label in labels))
    return [f"predicted_{name}" if name in used else name for name in names]


@contextmanager
def open_writer(path: str, format: str | None = None) -> Iterator["RowWriter"]:
    """Open a writer of rows to a file, whole or not at all, compressed by its name; `-` is standard output."""
    if format is None and path != PIPE and suffix_format(path) is None:
        raise EmoscopeError(f"{path}: unknown kind of file; expected a name that ends in {', '.join(SUFFIXES)}")
    kind = format_of(path, format) or "jsonl"
    if path == PIPE:
        if kind == "parquet":
            raise EmoscopeError("Parquet cannot be written to a pipe; give a file")
        writer = RowWriter("standard output", partial(_print, escape=kind in ("json", "jsonl")), kind)
        yield writer
        writer.finish()
        return
    with atomic_write_compressed(path) as handle:
        if kind == "parquet":
            parquet, arrow = (require(name, extra="parquet") for name in ("pyarrow.parquet", "pyarrow"))
            writer = RowWriter(path, lambda _: None, kind)
            yield writer
            rows = writer.rows or [writer.example]
            names = dict.fromkeys(name for row in rows for name in row)
            table = arrow.table({name: [row.get(name) for row in rows] for name in names})
            parquet.write_table(table.slice(0, len(writer.rows)), handle, compression="zstd")
        else:
            writer = RowWriter(path, lambda text: handle.write(text.encode()), kind)
            yield writer
            writer.finish()


def _print(text: str, *, escape: bool) -> None:
    """Print rows; characters that standard output cannot encode are escaped, or an error."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        if not escape:
            missing = error.object[error.start]
            raise EmoscopeError(
                f"standard output is {encoding}, which has no {missing!a}; "
                "write to a file with -o, or set PYTHONIOENCODING=utf-8"
            ) from None
        text = "".join(sign if sign.isascii() else json.dumps(sign)[1:-1] for sign in text)
    print(text, end="", flush=True)


class RowWriter:
    """Writes rows of the same columns in one format."""

    def __init__(self, name: str, write: Callable[[str], Any], kind: Format) -> None:
        self._name = name
        self._write = write
        self._kind = kind
        self._names: list[str] | None = None
        self.written = 0
        self.rows: list[Mapping[str, Any]] = []  # of Parquet, whose column types are known only after all rows
        self.example: Mapping[str, Any] = {}  # shows the columns of a Parquet file without rows

    def write(self, row: Mapping[str, Any]) -> None:
        if self._kind == "parquet":
            self.rows.append(dict(row))
        else:
            self._write(self._text(row))
            if self._names is None:
                self._names = list(row)
        self.written += 1

    def write_header(self, example: Mapping[str, Any]) -> None:
        """Write the columns of a table without rows, given a row it could have."""
        self.example = example
        if self._kind in ("csv", "tsv"):
            self._write(self._delimited(list(example)))

    def finish(self) -> None:
        """Write what follows the last row."""
        if self._kind == "json":
            self._write("[]\n" if self._names is None else "\n]\n")

    def _text(self, row: Mapping[str, Any]) -> str:
        match self._kind:
            case "jsonl":
                return _json(row) + "\n"
            case "json":
                return ("[\n" if self._names is None else ",\n") + _json(row)
            case "text":
                if set(row) == {"turns"}:  # a plain line again
                    return "\t".join(row["turns"]) + "\n"
                if not {"truncated", "predicted_truncated"} & row.keys():  # nothing that detect has labelled
                    raise EmoscopeError(
                        f"{self._name}: plain text cannot hold columns such as {next(iter(row), '')!r}; "
                        "write CSV, TSV, JSONL or Parquet"
                    )
                return str(row.get("predicted_label", row.get("label"))) + "\n"
        names = self._names or list(row)
        if unknown := [name for name in row if name not in names]:
            raise EmoscopeError(
                f"{self._name}: row {self.written + 1:,} has a column {unknown[0]!r} that the rows before do not have; "
                "write JSONL, whose rows may differ"
            )
        header = "" if self._names else self._delimited(names)
        return header + self._delimited([row.get(name) for name in names])

    def _delimited(self, cells: Sequence[Any]) -> str:
        values = [
            "" if cell is None else json.dumps(cell) if isinstance(cell, list | dict) else str(cell) for cell in cells
        ]
        if self._kind == "tsv":
            return "\t".join(re.sub(r"[\t\r\n]+", " ", value) for value in values) + "\n"
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerow(values)
        return buffer.getvalue()


def _json(row: Mapping[str, Any]) -> str:
    return json.dumps(dict(row), ensure_ascii=False, default=str)
