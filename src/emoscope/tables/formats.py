"""Which kind of table a file is, by its name or by what the user says."""

from pathlib import Path
from typing import Literal, get_args

from emoscope.core.errors import EmoscopeError

Format = Literal["csv", "tsv", "jsonl", "parquet", "text"]
FORMATS: tuple[Format, ...] = get_args(Format)
PIPE = "-"
_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".txt": "text",
}


def format_of(path: str, given: str | None = None) -> Format | None:
    """The format a file name stands for, or the one given; None for a pipe, whose first line will tell.

    >>> format_of("logs.csv"), format_of("-", "tsv")
    ('csv', 'tsv')
    """
    if given is not None:
        for known in FORMATS:
            if given == known:
                return known
        raise EmoscopeError(f"unknown format {given!r}; expected one of: {', '.join(FORMATS)}")
    if path == PIPE:
        return None
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise EmoscopeError(f"{path}: unknown kind of file; name one of {', '.join(_SUFFIXES)}, or give --format")
    return _SUFFIXES[suffix]
