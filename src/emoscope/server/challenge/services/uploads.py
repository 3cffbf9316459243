"""Checks of an upload's name, note and content, before the task's verifier reads it."""

import re
import unicodedata
from pathlib import Path

from emoscope.core.errors import InputError
from emoscope.server.errors import Invalid, StoreUnavailable
from emoscope.server.store.names import has_control_characters
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
_NOT_TEXT = {f"application/{kind}" for kind in ("zip", "gzip", "x-gzip", "x-tar", "x-7z-compressed", "pdf", "wasm")}
_KEY = re.compile(r"[\x21-\x7e]{1,128}")


def line_limit(items: int) -> int:
    """A limit above what any submission format needs; indented JSON takes about five lines per item."""
    return 20 * items + 10_000


def refusals(task: Task, path: Path, unlabelled: Path, *, file_name: str, items: int) -> list[str]:
    """All problems of an upload, one line each; none means that it is accepted.

    Archives are refused, never unpacked, so a zip bomb does no harm.
    """
    if problem := _not_text(path, items):
        return [f"{file_name}: {problem}"]
    try:
        found = task.check(path, unlabelled)
    except InputError as error:
        # The problem is in our own file, whose content the sender must not see.
        problem = "the challenge's own data file cannot be read; nothing was accepted, tell the organisers"
        raise StoreUnavailable(problem) from error
    # The verifier names the file by its path on the server. A slip that is sure to be wrong costs no submission.
    problems = [*found.problems, *found.warnings]
    return [_printable(problem.replace(str(path), file_name)) for problem in problems]


def _not_text(path: Path, items: int) -> str | None:
    """Why a file is not text or has too many lines; reads no more than necessary."""
    lines = 0
    with path.open("rb") as handle:
        head = handle.read(8)
        if kind := next((kind for mark, kind in _KINDS.items() if head.startswith(mark)), None):
            return f"is {kind}; send the plain text file"
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "is UTF-16, expected UTF-8"
        handle.seek(0)
        while chunk := handle.read(_CHUNK):
            if b"\0" in chunk:
                row = lines + chunk[: chunk.index(b"\0")].count(b"\n") + 1
                return f"row {row}: contains a NUL byte; expected UTF-8 text"
            lines += chunk.count(b"\n")
            if lines > line_limit(items):
                return f"has more than {line_limit(items):,} lines for {items:,} items; this cannot be a submission"
    return None


def _printable(line: str) -> str:
    """The line without control characters, and of limited length."""
    return "".join(mark if mark.isprintable() else "�" for mark in line)[:400]


def clean_file_name(text: str) -> str:
    """The name of an upload; a path is refused.

    >>> clean_file_name("../../etc/passwd")
    Traceback (most recent call last):
    emoscope.server.errors.Invalid: the file name must be a plain name, without a path
    """
    name = unicodedata.normalize("NFC", text).strip()
    if "/" in name or "\\" in name or name in {".", ".."} or re.match(r"[A-Za-z]:", name):
        raise Invalid("the file name must be a plain name, without a path", field="file")
    if not name or has_control_characters(name):
        raise Invalid("the file name is missing or contains control characters", field="file")
    if len(name) > 100 or len(name.encode()) > 240:
        raise Invalid("the file name is longer than 100 characters", field="file")
    return name


def check_media_type(text: str | None) -> None:
    """Refuse an upload whose media type is certainly not text; browsers have many names for text.

    >>> check_media_type("application/vnd.ms-excel")  # what some call .csv
    >>> check_media_type("image/png")
    Traceback (most recent call last):
    emoscope.server.errors.Invalid: the file says it is image/png; expected a text file
    """
    kind = (text or "").partition(";")[0].strip().lower()
    if kind.partition("/")[0] in {"image", "audio", "video", "font", "model"} or kind in _NOT_TEXT:
        raise Invalid(f"the file says it is {kind[:60]}; expected a text file", field="file")


def clean_key(text: str | None) -> str | None:
    """A request's idempotency key."""
    if text is None or text == "":
        return None
    if not _KEY.fullmatch(text):
        raise Invalid("the idempotency key must be 1 to 128 printable ASCII characters", field="key")
    return text
