"""Dialogues from and to tables: CSV, TSV, JSON, JSONL, Parquet and plain lines, `.gz` or `.zst`, and pipes.

A row holds its turns in columns `turn1`, `turn2`, ..., or in one column `turns` (a list), or a single `text`.
Other columns are passed through.
"""

from emoscope.tables.formats import FORMATS, PIPE, Format, format_of
from emoscope.tables.reading import Record, read_records
from emoscope.tables.turns import row_dialogue, turn_columns, turn_list
from emoscope.tables.writing import RowWriter, detection_columns, open_writer

__all__ = [
    "FORMATS",
    "PIPE",
    "Format",
    "Record",
    "RowWriter",
    "detection_columns",
    "format_of",
    "open_writer",
    "read_records",
    "row_dialogue",
    "turn_columns",
    "turn_list",
]
