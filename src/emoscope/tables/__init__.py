"""Read and write tables of dialogues: CSV, TSV, JSON, JSONL, Parquet and plain lines, `.gz` or `.zst`, and pipes.

A row has its turns in columns `turn1`, `turn2`, ..., in one column `turns` (a list), or a single turn in `text`. Other
columns are passed through.
"""

from emoscope.tables.formats import PIPE, format_of
from emoscope.tables.reading import Record, read_records
from emoscope.tables.turns import turn_columns, turn_list
from emoscope.tables.writing import RowWriter, open_writer

__all__ = ["PIPE", "Record", "RowWriter", "format_of", "open_writer", "read_records", "turn_columns", "turn_list"]
