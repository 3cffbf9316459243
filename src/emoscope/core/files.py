"""Reading text strictly and writing it whole or not at all."""

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, TypeVar

from emoscope.core.errors import EmoscopeError, InputError

T = TypeVar("T")

# No line of any format we read comes near this; a longer one is a binary or broken file.
MAX_LINE_BYTES = 1 << 20

_DIGESTS: dict[tuple[int, ...], str] = {}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
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
    options: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    with _created_beside(target, lambda part: part.open(mode.replace("w", "x"), **options)) as (part, opened):
        try:
            with opened as handle:
                yield handle
                handle.flush()
                os.fsync(handle.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file, whole or not at all."""
    with atomic_write(path, "wb" if isinstance(content, bytes) else "w") as handle:
        handle.write(content)


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
    with _created_beside(target, Path.mkdir) as (part, _):
        try:
            yield part
            if target.is_dir():
                target.rmdir()
            part.rename(target)
        finally:
            shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _created_beside(target: Path, create: Callable[[Path], T]) -> Iterator[tuple[Path, T]]:
    """Create a hidden file or folder beside the target to write into; a failure is reported in one clear line."""
    parent = target.absolute().parent
    if not parent.is_dir():
        raise EmoscopeError(f"{target.parent}: no such folder to write {target.name} into")
    part = parent / f".{target.name}.{token_hex(4)}.part"
    try:
        created = create(part)
    except OSError as error:
        raise EmoscopeError(f"{target}: cannot write here ({error.strerror})") from None
    try:
        yield part, created
    except OSError as error:
        raise EmoscopeError(f"{target}: could not be written ({error.strerror or error})") from None


def folder_size(folder: Path) -> int:
    """The bytes of all files in a folder and below; hard links to one file count once.

    >>> folder_size(Path("/nowhere"))
    0
    """
    stats = (path.stat() for path in folder.rglob("*") if path.is_file())
    return sum({(stat.st_dev, stat.st_ino): stat.st_size for stat in stats}.values())


def content_digest(path: Path) -> str:
    """A digest of a file's content, computed again only if the file has changed."""
    stat = path.stat()
    key = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if key not in _DIGESTS:
        with path.open("rb") as handle:
            _DIGESTS[key] = hashlib.file_digest(handle, "blake2b").hexdigest()
    return _DIGESTS[key]


def link_equal_files(folder: Path) -> None:
    """Replace identical files in a folder and below by hard links, where the file system supports them."""
    sizes: dict[int, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            sizes.setdefault(path.stat().st_size, []).append(path)
    for alike in sizes.values():
        firsts: dict[str, Path] = {}
        for path in alike if len(alike) > 1 else ():
            first = firsts.setdefault(content_digest(path), path)
            if first != path and not path.samefile(first):
                path.unlink()
                try:
                    path.hardlink_to(first)
                except OSError:
                    shutil.copy2(first, path)


def existing_file(path: str | Path) -> Path:
    """The path, if it is a readable, non-empty file."""
    file = Path(path)
    if not file.exists():
        raise InputError(file, "no such file")
    if file.is_dir():
        raise InputError(file, "is a folder, expected a file")
    if not os.access(file, os.R_OK):
        raise InputError(file, "cannot be read (permission denied)")
    if file.is_file() and file.stat().st_size == 0:
        raise InputError(file, "is empty")
    return file


def check_other_file(output: str | Path, *sources: str | Path) -> None:
    """Raise an error if the output is one of the inputs.

    >>> check_other_file("out.csv", "./out.csv")
    Traceback (most recent call last):
    emoscope.core.errors.EmoscopeError: out.csv: is the input itself; write to another file
    """
    if Path(output).resolve() in {Path(source).resolve() for source in sources}:
        raise EmoscopeError(f"{output}: is the input itself; write to another file")


def text_lines(path: str | Path, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, str]]:
    r"""Stream `(row, line)` from a UTF-8 file, rows counted from 1, without line ends.

    Only `\n` and `\r\n` end a line: chat text contains other characters at which Python would split.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = file.write_bytes(b"one\r\ntwo")
    >>> list(text_lines(file))
    [(1, 'one'), (2, 'two')]
    """
    for row, raw in byte_lines(path, max_bytes=max_bytes):
        yield row, decode_line(path, row, raw)


def byte_lines(path: str | Path, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Stream `(row, line)` from a file in any encoding, rows counted from 1, with line ends."""
    with existing_file(path).open("rb") as handle:
        for row, raw in enumerate(iter(lambda: handle.readline(max_bytes + 1), b""), start=1):
            if len(raw) > max_bytes:
                raise InputError(path, f"line is longer than {max_bytes:,} bytes; this is not a text table", row=row)
            yield row, raw


def decode_line(path: str | Path, row: int, raw: bytes) -> str:
    """Decode one line; an InputError says why it is not text."""
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
    file = existing_file(path)
    if file.stat().st_size > max_bytes:
        raise InputError(path, f"is larger than {max_bytes:,} bytes")
    raw = file.read_bytes()
    if raw.startswith(_UTF16_MARKS):
        raise InputError(path, "is UTF-16, expected UTF-8")
    if b"\x00" in raw:
        raise InputError(path, "holds a NUL byte; expected UTF-8 text", row=raw[: raw.index(b"\x00")].count(b"\n") + 1)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, "not valid UTF-8", row=raw[: error.start].count(b"\n") + 1) from None


def read_json(path: str | Path) -> Any:
    """The content of a JSON file."""
    return parse_json(path, whole_text(path))


def write_json(path: str | Path, value: Any) -> None:
    """Write a value as indented JSON, whole or not at all."""
    write_file(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def parse_json(path: str | Path, text: str, row: int | None = None) -> Any:
    """The value of a JSON text; errors name the file and row, by default the line in the text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(path, f"is not valid JSON ({error.msg})", row=row or error.lineno) from None
    except RecursionError:
        raise InputError(path, "is nested too deeply", row=row) from None


def csv_rows(
    path: str | Path, needed: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """Stream the rows of a CSV file by column name; an error if there are none, or if cells are missing."""
    reader = csv.reader((line for _, line in text_lines(path)), strict=True)
    rows = 0
    try:
        header = [cell.strip() for cell in next(reader, ())]
        if any(header.count(name) != 1 for name in needed) or any(header.count(name) > 1 for name in optional):
            columns = ",".join(needed) + "".join(f"[,{name}]" for name in optional)
            raise InputError(path, f"expected columns {columns}, found {','.join(header)[:60]!r}", row=1)
        for cells in reader:
            rows += 1
            if len(cells) != len(header):
                problem = f"expected {len(header)} comma-separated columns, found {len(cells)}"
                raise InputError(path, problem, row=reader.line_num)
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InputError(path, f"is not valid CSV: {error}", row=reader.line_num) from None
    if not rows:
        raise InputError(path, "has a header but no rows")
