"""Reading text strictly and writing it whole or not at all."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from emoscope.core.errors import EmoscopeError, InputError

# No line of any format we read comes near this; a longer one is a binary or broken file.
MAX_LINE_BYTES = 1 << 20

_DIGESTS: dict[tuple[int, ...], str] = {}
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def atomic_write(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that appears under `path` only when the block ends without an error.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "out.txt"
    >>> with atomic_write(target) as handle:
    ...     _ = handle.write("done")
    >>> target.read_text()
    'done'
    """
    target = Path(path)
    if target.is_dir():
        raise EmoscopeError(f"{target}: is a folder, expected a file to write")
    if not target.parent.is_dir():
        raise EmoscopeError(f"{target.parent}: no such folder to write {target.name} into")
    text = "b" not in mode
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise EmoscopeError(f"{target}: cannot write here ({error.strerror})") from None
    part = Path(name)
    try:
        with os.fdopen(descriptor, mode, encoding="utf-8" if text else None, newline="" if text else None) as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        part.chmod(0o666 & ~_umask())
        part.replace(target)
    except OSError as error:
        raise EmoscopeError(f"{target}: could not be written ({error.strerror or error})") from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """A folder to fill, which appears under `path` only when the block ends without an error.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "out"
    >>> with atomic_folder(target) as folder:
    ...     _ = (folder / "a.txt").write_text("done")
    >>> (target / "a.txt").read_text()
    'done'
    """
    target = Path(path)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise EmoscopeError(f"{target}: exists already; expected a new or an empty folder to write")
    if not target.absolute().parent.is_dir():
        raise EmoscopeError(f"{target.parent}: no such folder to write {target.name} into")
    try:
        part = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=f".{target.name}.", suffix=".part"))
    except OSError as error:
        raise EmoscopeError(f"{target}: cannot write here ({error.strerror})") from None
    try:
        yield part
        part.chmod(0o777 & ~_umask())
        if target.is_dir():
            target.rmdir()
        part.rename(target)
    except OSError as error:
        raise EmoscopeError(f"{target}: could not be written ({error.strerror or error})") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def folder_size(folder: Path) -> int:
    """The bytes of all files in a folder and below; one that has several names there counts once.

    >>> folder_size(Path("/nowhere"))
    0
    """
    found = (path.stat() for path in folder.rglob("*") if path.is_file())
    return sum({(each.st_dev, each.st_ino): each.st_size for each in found}.values())


def content_digest(path: Path) -> str:
    """A digest of a file's content; computed once for a file that does not change, under whatever name."""
    found = path.stat()
    which = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    if which not in _DIGESTS:
        with path.open("rb") as handle:
            _DIGESTS[which] = hashlib.file_digest(handle, "blake2b").hexdigest()
    return _DIGESTS[which]


def link_equal_files(folder: Path) -> None:
    """Let files below a folder that have the same content be one file with several names, where the system can."""
    sizes: dict[int, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            sizes.setdefault(path.stat().st_size, []).append(path)
    for alike in sizes.values():
        first: dict[str, Path] = {}
        for path in alike if len(alike) > 1 else ():
            kept = first.setdefault(content_digest(path), path)
            if kept != path and not path.samefile(kept):
                path.unlink()
                try:
                    path.hardlink_to(kept)
                except OSError:
                    shutil.copy2(kept, path)


def existing_file(path: str | Path) -> Path:
    """The path, if it is a readable, non-empty file."""
    found = Path(path)
    if not found.exists():
        raise InputError(found, "no such file")
    if found.is_dir():
        raise InputError(found, "is a folder, expected a file")
    if not os.access(found, os.R_OK):
        raise InputError(found, "cannot be read (permission denied)")
    if found.is_file() and found.stat().st_size == 0:
        raise InputError(found, "is empty")
    return found


def text_lines(path: str | Path, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, str]]:
    r"""Stream `(row, line)` from a UTF-8 file, rows counted from 1, without line ends.

    Only `\n` and `\r\n` end a line: chat text holds other characters that Python would split at.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = file.write_bytes(b"one\r\ntwo")
    >>> list(text_lines(file))
    [(1, 'one'), (2, 'two')]
    """
    found = existing_file(path)
    with found.open("rb") as handle:
        row = 0
        while raw := handle.readline(max_bytes + 1):
            row += 1
            if len(raw) > max_bytes:
                raise InputError(path, f"line is longer than {max_bytes:,} bytes; this is not a text table", row=row)
            yield row, decode_line(path, row, raw)


def decode_line(path: str | Path, row: int, raw: bytes) -> str:
    """One line as text, or the reason why it is not text."""
    if row == 1 and raw.startswith(_UTF16_MARKS):
        raise InputError(path, "is UTF-16, expected UTF-8", row=row)
    if b"\x00" in raw:
        raise InputError(path, "holds a NUL byte; expected UTF-8 text", row=row)
    try:
        # A byte-order mark is an artefact of some editors, never content.
        text = raw.decode("utf-8-sig" if row == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"not valid UTF-8 at byte {error.start + 1} of the line", row=row) from None
    return text.removesuffix("\n").removesuffix("\r")


def whole_text(path: str | Path, *, max_bytes: int = 1 << 30) -> str:
    """A whole UTF-8 file, for formats that cannot be streamed."""
    found = existing_file(path)
    if found.stat().st_size > max_bytes:
        raise InputError(path, f"is larger than {max_bytes:,} bytes")
    raw = found.read_bytes()
    if raw.startswith(_UTF16_MARKS):
        raise InputError(path, "is UTF-16, expected UTF-8")
    if b"\x00" in raw:
        raise InputError(path, "holds a NUL byte; expected UTF-8 text", row=raw[: raw.index(b"\x00")].count(b"\n") + 1)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, "not valid UTF-8", row=raw[: error.start].count(b"\n") + 1) from None
