"""A first look at an upload, before the task's own verifier: is this text at all, and not far too much of it?"""

from pathlib import Path

from emoscope.core.errors import InputError
from emoscope.server.errors import StoreUnavailable
from emoscope.tasks import Task

_CHUNK = 1 << 20
_KINDS = {
    b"PK\x03\x04": "a zip archive or office document",
    b"PK\x05\x06": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a rar archive",
    b"(\xb5/\xfd": "a zstd archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "an image",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"PAR1": "a Parquet file",
}
_UNICODE = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def line_limit(items: int) -> int:
    """More lines than any layout of the answers needs; indented JSON takes about five an item."""
    return 20 * items + 10_000


def refusals(task: Task, path: Path, unlabelled: Path, *, file_name: str, items: int) -> list[str]:
    """Everything that is wrong with an upload, one line each with its row; none means it is accepted.

    Archives are refused, never unpacked: there is nothing to gain from a bomb.
    """
    if found := _not_text(path, items):
        return [f"{file_name}: {found}"]
    try:
        problems = task.verify(path, unlabelled)
    except InputError as error:
        # Not about the upload, so about our own file; its text is no business of the sender's.
        problem = "the challenge's own file cannot be read; nothing was accepted, the organisers have to mend it"
        raise StoreUnavailable(problem) from error
    # The verifier names the file by where it lies here.
    return [_printable(problem.replace(str(path), file_name)) for problem in problems]


def _not_text(path: Path, items: int) -> str | None:
    """Why a file is no text of a sensible length, without reading more of it than that takes."""
    lines = 0
    with path.open("rb") as handle:
        first = True
        while chunk := handle.read(_CHUNK):
            if first:
                first = False
                for mark, kind in _KINDS.items():
                    if chunk.startswith(mark):
                        return f"is {kind}; send the plain text file"
                for mark, kind in _UNICODE.items():
                    if chunk.startswith(mark):
                        return f"is {kind}, expected UTF-8"
            if b"\0" in chunk:
                row = lines + chunk[: chunk.index(b"\0")].count(b"\n") + 1
                return f"row {row}: holds a NUL byte; expected UTF-8 text"
            lines += chunk.count(b"\n")
            if lines > line_limit(items):
                return f"has more than {line_limit(items):,} lines for {items:,} items; this is something else"
    return None


def _printable(line: str) -> str:
    """The line without control characters it may have quoted from the file, and of bounded length."""
    return "".join(mark if mark.isprintable() else "�" for mark in line)[:400]
