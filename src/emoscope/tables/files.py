"""Open local and remote files (`s3://bucket/logs/`), compressed or not."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from traceback import walk_tb
from typing import IO, Any, cast

from emoscope.core.errors import EmoscopeError, InputError, first_line
from emoscope.core.extras import require
from emoscope.core.files import atomic_write
from emoscope.tables.formats import compression_of

_BUFFER = 1 << 20
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "az": "azure", "abfs": "azure", "abfss": "azure"}
_CLIENTS = frozenset({"aiobotocore", "aiohttp", "azure", "botocore", "gcsfs", "google", "requests"})


@contextmanager
def open_binary(path: str) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed if its name ends in `.gz` or `.zst`.

    Errors of opening and reading, within the block, become InputErrors.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(client_errors())
            raw = stack.enter_context(_open_raw(path))
            match compression_of(path):
                case "gzip":
                    yield stack.enter_context(io.BufferedReader(gzip.GzipFile(fileobj=raw), _BUFFER))
                case "zstd":
                    arrow = require("pyarrow", extra="scale")
                    yield stack.enter_context(io.BufferedReader(arrow.CompressedInputStream(raw, "zstd"), _BUFFER))
                case None:
                    yield raw
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or first_line(error)
            raise InputError(path, f"cannot be read ({reason})") from None


@contextmanager
def open_parquet(path: str, footer: Any = None) -> Iterator[Any]:
    """Open a Parquet file for reading row groups, buffered by a megabyte per column, with checksums verified."""
    arrow, pq = require("pyarrow", extra="scale"), require("pyarrow.parquet", extra="scale")
    with ExitStack() as stack:
        try:
            stack.enter_context(client_errors())
            handle = stack.enter_context(_open_raw(path, buffered=False))
            file = stack.enter_context(
                pq.ParquetFile(
                    handle, metadata=footer, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
                )
            )
        except (arrow.ArrowException, OSError) as error:
            reason = getattr(error, "strerror", None) or first_line(error)
            raise InputError(path, f"is not a readable Parquet file ({reason})") from None
        yield file


@contextmanager
def atomic_write_compressed(path: str) -> Iterator[IO[bytes]]:
    """Write a file whole or not at all, compressed if its name ends in `.gz` or `.zst`."""
    with atomic_write(path, "wb") as raw:
        match compression_of(path):
            case "gzip":  # no name or time, so that the same content gives the same bytes
                with (
                    gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packer,
                    io.BufferedWriter(packer, _BUFFER) as file,
                ):
                    yield file
            case "zstd":
                arrow = require("pyarrow", extra="scale")
                # A second descriptor, because closing the stream closes its file.
                with arrow.CompressedOutputStream(os.fdopen(os.dup(raw.fileno()), "wb"), "zstd") as file:
                    yield file
            case None:
                yield raw


def skip_to(handle: IO[bytes], offset: int) -> None:
    """Skip to an offset, even in a stream that cannot seek."""
    if handle.seekable():
        handle.seek(offset)
        return
    while offset > 0 and (block := handle.read(min(offset, _BUFFER))):
        offset -= len(block)


def file_system(path: str) -> tuple[Any, str]:
    """The fsspec file system of a path or URL, and the path in it.

    >>> file_system("logs/a.csv")[1].endswith("logs/a.csv")
    True
    """
    fsspec = require("fsspec", extra="scale")
    try:
        system, inner = fsspec.core.url_to_fs(path)
    except ImportError as error:  # the package for this kind of URL is missing
        extra = _EXTRAS.get(path.partition("://")[0])
        advice = f"; pip install 'emoscope[{extra}]'" if extra else ""
        raise EmoscopeError(f"{path}: {first_line(error)}{advice}") from None
    except (ValueError, OSError) as error:
        advice = "; it needs Java and Hadoop, see JAVA_HOME" if "jvm" in str(error) or "hdfs" in str(error) else ""
        raise EmoscopeError(f"{path}: cannot be opened ({first_line(error)}){advice}") from None
    return (system if is_local(system) else _OneKindOfError(system)), str(inner)


class _OneKindOfError:
    """A file system that raises OSError for its client's own exceptions."""

    def __init__(self, system: Any) -> None:
        self._system = system

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._system, name)
        if not callable(attribute):
            return attribute

        @wraps(attribute)
        def call(*arguments: Any, **settings: Any) -> Any:
            with client_errors():
                return attribute(*arguments, **settings)

        return call


@contextmanager
def client_errors() -> Iterator[None]:
    """Turn exceptions of an object store's client, such as missing credentials, into OSErrors."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        *_, (innermost, _) = walk_tb(error.__traceback__)
        raised_in = (type(error).__module__, str(innermost.f_globals.get("__name__")))
        if _CLIENTS.isdisjoint(name.partition(".")[0] for name in raised_in):
            raise
        raise OSError(first_line(error)) from None


def is_local(system: Any) -> bool:
    """Whether it is the local file system."""
    return "file" in ((system.protocol,) if isinstance(system.protocol, str) else system.protocol)


def is_store(system: Any) -> bool:
    """Whether it is an object store, with buckets instead of folders."""
    return not _EXTRAS.keys().isdisjoint((system.protocol,) if isinstance(system.protocol, str) else system.protocol)


def address(system: Any, path: str) -> str:
    """A file's name in messages and manifests: a plain local path, or a whole URL."""
    return path if is_local(system) else str(system.unstrip_protocol(path))


def _open_raw(path: str, *, buffered: bool = True) -> IO[bytes]:
    if "://" not in path:
        return Path(path).open("rb", buffering=_BUFFER if buffered else 0)
    system, inner = file_system(path)
    if not buffered:
        return cast(IO[bytes], system.open(inner, "rb", **({"cache_type": "none"} if is_store(system) else {})))
    opened = system.open(inner, "rb")
    return opened if isinstance(opened, io.BufferedReader) else io.BufferedReader(opened, _BUFFER)
