"""From what the user names to the files meant: files, folders, globs, and addresses such as `s3://bucket/logs/`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require

Kind = Literal["parquet", "jsonl", "csv", "tsv"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_SUFFIXES: Mapping[str, Kind] = {f".{kind}": kind for kind in KINDS} | {".ndjson": "jsonl", ".pq": "parquet"}
# What file systems call the thing that changes when a file does, the surest first.
_STAMPS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read: where it is, what it is, and what tells whether it has changed."""

    path: str
    kind: Kind
    size: int
    stamp: str


def find_sources(inputs: Sequence[str]) -> list[Source]:
    """The files of each input in turn, those of a folder or a glob by name; one that is meant twice is read once."""
    found: dict[str, Source] = {}
    for given in inputs:
        for source in _sources(given):
            found.setdefault(source.path, source)
    return list(found.values())


def file_system(path: str) -> tuple[Any, str]:
    """The file system an address belongs to, and the path in it.

    >>> file_system("logs/a.csv")[1].endswith("logs/a.csv")
    True
    """
    fsspec = require("fsspec", extra="scale")
    try:
        system, inner = fsspec.core.url_to_fs(path)
    except ImportError as error:  # the package for that kind of address
        raise EmoscopeError(f"{path}: {error}") from None
    except ValueError as error:
        raise EmoscopeError(f"{path}: cannot be opened ({error})") from None
    return system, str(inner)


def is_local(system: Any) -> bool:
    """Whether files lie in folders of this machine."""
    return "file" in ((system.protocol,) if isinstance(system.protocol, str) else system.protocol)


def address(system: Any, path: str) -> str:
    """How a file is named in messages and manifests: the plain path here, the whole address elsewhere."""
    return path if is_local(system) else str(system.unstrip_protocol(path))


def _sources(given: str) -> list[Source]:
    system, path = file_system(given)
    try:
        if system.isfile(path):
            return [_source(system, system.info(path), _kind(given))]
        if system.isdir(path):
            listed = system.find(path, detail=True)
            hidden = len(PurePosixPath(path).parts)
            chosen = [info for name, info in sorted(listed.items()) if _is_table(PurePosixPath(name).parts[hidden:])]
        elif any(sign in path for sign in "*?["):
            listed = system.glob(path, detail=True)
            chosen = [info for name, info in sorted(listed.items()) if _is_matched(name, info)]
        else:
            raise InputError(given, "no such file or folder")
    except (OSError, PermissionError) as error:
        raise InputError(given, f"cannot be read ({error.strerror or error})") from None
    return [_source(system, info, _kind(info["name"])) for info in chosen] or _nothing(given)


def _nothing(given: str) -> list[Source]:
    raise InputError(given, f"holds no table to read; expected files named {', '.join(_SUFFIXES)}")


def _is_matched(name: str, info: Mapping[str, Any]) -> bool:
    """As in a shell, `*` does not mean hidden files."""
    return bool(info["type"] == "file") and not PurePosixPath(name).name.startswith(".")


def _is_table(parts: Sequence[str]) -> bool:
    """Whether a file of a folder is meant: others, and what is hidden or marked as not data, are left alone."""
    return PurePosixPath(parts[-1]).suffix.lower() in _SUFFIXES and not any(part[0] in "._" for part in parts)


def _kind(path: str) -> Kind:
    suffix = PurePosixPath(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(path, f"unknown kind of file; expected one of {', '.join(_SUFFIXES)}")
    return _SUFFIXES[suffix]


def _source(system: Any, info: Mapping[str, Any], kind: Kind) -> Source:
    stamp = next((str(info[name]) for name in _STAMPS if info.get(name) is not None), "")
    return Source(address(system, info["name"]), kind, int(info["size"] or 0), stamp)
