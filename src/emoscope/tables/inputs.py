"""From what the user names to the files meant: files, folders, globs, and addresses such as `s3://bucket/logs/`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from emoscope.core.errors import InputError
from emoscope.tables.files import address, file_system
from emoscope.tables.formats import SUFFIXES, Format, compression_of, suffix_format

# Those of which a row can be found again: JSON arrays and plain lines in a folder are mostly something else.
_SCORED = ("parquet", "jsonl", "csv", "tsv")
_EXPECTED = ", ".join(suffix for suffix, format in SUFFIXES.items() if format in _SCORED)
# What file systems call the thing that changes when a file does, the surest first.
_STAMPS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read: its path or address, its format, and what tells whether it has changed."""

    path: str
    kind: Format
    size: int
    stamp: str


def find_inputs(inputs: Sequence[str]) -> list[InputFile]:
    """The files of each input in turn, those of a folder or a glob by name; one that is meant twice is read once."""
    files: dict[str, InputFile] = {}
    for named in inputs:
        for file in _find(named):
            files.setdefault(file.path, file)
    return list(files.values())


def _find(named: str) -> list[InputFile]:
    system, path = file_system(named)
    try:
        if system.isfile(path):
            return [_input_file(system, system.info(path))]
        if system.isdir(path):
            depth = len(PurePosixPath(path).parts)
            listed = sorted(system.find(path, detail=True).items())
            chosen = [info for name, info in listed if _is_table(PurePosixPath(name).parts[depth:])]
        elif any(sign in path for sign in "*?["):
            matched = sorted(system.glob(path, detail=True).items())
            # As in a shell, `*` does not mean hidden files.
            visible = (info for name, info in matched if not PurePosixPath(name).name.startswith("."))
            chosen = [info for info in visible if info["type"] == "file"]
        else:
            raise InputError(named, "no such file or folder")
    except OSError as error:
        raise InputError(named, f"cannot be read ({error.strerror or error})") from None
    if not chosen:
        raise InputError(named, f"holds no table to read; expected files named {_EXPECTED}")
    return [_input_file(system, info) for info in chosen]


def _is_table(parts: Sequence[str]) -> bool:
    """Whether a file of a folder is meant: others, and what is hidden or marked as not data, are left alone."""
    return _scored_format(parts[-1]) is not None and not any(part[0] in "._" for part in parts)


def _scored_format(path: str) -> Format | None:
    format = suffix_format(path)
    compressed = compression_of(path) is not None
    return format if format in _SCORED and not (compressed and format == "parquet") else None


def _input_file(system: Any, info: Mapping[str, Any]) -> InputFile:
    path = address(system, info["name"])
    kind = _scored_format(path)
    if kind is None:
        raise InputError(path, f"unknown kind of file; expected one of {_EXPECTED}, or of text with .gz or .zst")
    stamp = next((str(info[name]) for name in _STAMPS if info.get(name) is not None), "")
    return InputFile(path, kind, int(info["size"] or 0), stamp)
