"""Find the input files that a user names: files, folders, globs and URLs such as `s3://bucket/logs/`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from emoscope.core.errors import InputError
from emoscope.tables.files import address, file_system
from emoscope.tables.formats import SUFFIXES, Format, format_of, suffix_format
from emoscope.tables.json_stream import is_json_lines
from emoscope.tables.reading import sniff
from emoscope.tables.rows import read_lines

_SHOWN = 5  # file names in a message
# What file systems report that changes with the file, most reliable first.
_STAMPS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read: its path or URL, its format, and its size and stamp, which show whether it changed."""

    path: str
    kind: Format
    size: int
    stamp: str


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files to read, and those of unknown format that were skipped."""

    files: Sequence[InputFile]
    skipped: Sequence[str] = ()


def find_inputs(
    inputs: Sequence[str], *, format: str | None = None, skip_unknown: bool = False, output: str | None = None
) -> Inputs:
    """The files of each input in turn, those of a folder or a glob sorted by name; each file only once.

    A file of unknown format in a folder or a glob is an error, or skipped with `skip_unknown`; `format` sets the format
    of all files. Hidden files, those that begin with `_`, and those in `output` are not data.
    """
    files: dict[str, InputFile] = {}
    skipped: dict[str, None] = {}
    for named in inputs:
        system, chosen = _find(named, output)
        paths = {address(system, info["name"]): info for info in chosen}
        unknown = [path for path in paths if format is None and suffix_format(path) is None]
        if unknown and not skip_unknown:
            shown = ", ".join(unknown[:_SHOWN]) + (", ..." if len(unknown) > _SHOWN else "")
            raise InputError(
                named,
                f"{len(unknown):,} of {len(chosen):,} files {'is' if len(unknown) == 1 else 'are'} of an unknown kind "
                f"({shown}); leave out with --skip-unknown, or say what all are with --format; "
                f"expected {', '.join(SUFFIXES)}, text also with .gz or .zst",
            )
        skipped |= dict.fromkeys(unknown)
        for path, info in paths.items():
            if path not in skipped and path not in files:
                files[path] = _input_file(path, info, format)
    if not files:
        raise InputError(inputs[0], f"holds no table to read; expected files named {', '.join(SUFFIXES)}")
    return Inputs(list(files.values()), list(skipped))


def check_unchanged(file: InputFile) -> None:
    """Raise an InputError if a file has changed since it was found."""
    system, path = file_system(file.path)
    try:
        system.invalidate_cache(path)
        info = system.info(path)
    except FileNotFoundError:
        raise InputError(file.path, "was removed during the run") from None
    except OSError as error:
        raise InputError(file.path, f"cannot be read ({error.strerror or error})") from None
    size, stamps = int(info["size"] or 0), _stamps(info)
    if size != file.size:
        change = f"{file.size:,} bytes then, {size:,} now"
    elif stamps and file.stamp not in stamps:
        change = f"{file.stamp} then, {stamps[0]} now"
    else:
        return
    raise InputError(file.path, f"changed during the run ({change}); score it again, into another folder")


def _stamps(info: Mapping[str, Any]) -> list[str]:
    """The values a file system reports that change with a file; listings may lack some, or format them differently."""
    found = [info[name] for name in _STAMPS if info.get(name) is not None]
    return [*map(str, found), *(str(value.timestamp()) for value in found if isinstance(value, datetime))]


def _find(named: str, output: str | None) -> tuple[Any, list[Mapping[str, Any]]]:
    system, path = file_system(named)
    try:
        if system.isfile(path):
            return system, [system.info(path)]
        if system.isdir(path):
            depth = len(PurePosixPath(path).parts)
            files = sorted(system.find(path, detail=True).items())
            # As in Spark, names that begin with . or _ are not data.
            hidden = {name for name, _ in files if any(part[0] in "._" for part in PurePosixPath(name).parts[depth:])}
            chosen = {name: info for name, info in files if name not in hidden}
        elif any(sign in path for sign in "*?["):
            matched = sorted(system.glob(path, detail=True).items())
            # As in a shell, `*` does not match hidden files.
            visible = ((name, info) for name, info in matched if not PurePosixPath(name).name.startswith("."))
            chosen = {name: info for name, info in visible if info["type"] == "file"}
        else:
            raise InputError(named, "no such file or folder")
    except OSError as error:
        raise InputError(named, f"cannot be read ({error.strerror or error})") from None
    if output is not None:
        own = PurePosixPath(output)
        chosen = {
            name: info for name, info in chosen.items() if not PurePosixPath(address(system, name)).is_relative_to(own)
        }
    if not chosen:
        raise InputError(named, f"holds no table to read; expected files named {', '.join(SUFFIXES)}")
    return system, list(chosen.values())


def _input_file(path: str, info: Mapping[str, Any], format: str | None) -> InputFile:
    kind = format_of(path, format)
    if kind is None:  # a file named `-`
        raise InputError(path, "is a pipe; expected a file")
    size = int(info["size"] or 0)
    return InputFile(path, _looked_into(path, kind) if size else kind, size, next(iter(_stamps(info)), ""))


def _looked_into(path: str, kind: Format) -> Format:
    """The real format: JSON may be lines and plain text a table, as in `detect`; read errors are reported later."""
    try:
        if kind == "json" and is_json_lines(path):
            return "jsonl"
        if kind == "text" and (first := next(read_lines(path), None)) is not None and not first.problem:
            return sniff(path, first, kind)
    except InputError:
        pass
    return kind
