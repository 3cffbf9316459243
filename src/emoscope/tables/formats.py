"""The format and compression of a table, by its name or as the user says."""

from pathlib import PurePosixPath
from typing import Literal, get_args

from emoscope.core.errors import EmoscopeError, InputError

Format = Literal["csv", "tsv", "json", "jsonl", "parquet", "text"]
FORMATS: tuple[Format, ...] = get_args(Format)
Compression = Literal["gzip", "zstd"]
PIPE = "-"
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "text",
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}


def format_of(path: str, named: str | None = None) -> Format | None:
    """The format named, or the one of the file name; None for a pipe, which is recognised by its first line.

    >>> format_of("logs.csv.gz"), format_of("-", "tsv")
    ('csv', 'tsv')
    """
    if named is not None:
        if named not in FORMATS:
            raise EmoscopeError(f"unknown format {named!r}; expected one of: {', '.join(FORMATS)}")
        return named
    if path == PIPE:
        return None
    format = suffix_format(path)
    if format is None:
        raise EmoscopeError(f"{path}: unknown kind of file; name one of {', '.join(SUFFIXES)}, or give --format")
    if format == "parquet" and compression_of(path) is not None:
        raise InputError(path, "is Parquet, which is compressed by itself; expected a name without .gz or .zst")
    return format


def suffix_format(path: str) -> Format | None:
    """The format of a file name, if it has a known ending.

    >>> suffix_format("logs.JSONL.zst"), suffix_format("README")
    ('jsonl', None)
    """
    name = PurePosixPath(path)
    return SUFFIXES.get((PurePosixPath(name.stem) if compression_of(path) else name).suffix.lower())


def compression_of(path: str) -> Compression | None:
    """The compression of a file, by its name.

    >>> compression_of("logs.csv.gz"), compression_of("logs.csv")
    ('gzip', None)
    """
    return _COMPRESSIONS.get(PurePosixPath(path).suffix.lower())
