"""Stream the elements of a large JSON array without loading the whole document."""

import codecs
import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from emoscope.core.errors import InputError
from emoscope.core.files import MAX_LINE_BYTES, existing_file
from emoscope.tables.files import open_binary

_CHUNK = 1 << 16
# A dialogue has a few thousand bytes, a million escaped emoji twelve million; a longer row means a broken file.
MAX_ROW_BYTES = 1 << 26
_BLANKS = " \t\r\n"  # of JSON
_TRUNCATED = "ends early: the file is truncated"


def is_json_lines(path: str) -> bool:
    """Whether a `.json` file has one value per line, as Spark writes it, rather than one array.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = file.write_text('{"turns": ["hi"]}\\n{"turns": ["hello"]}\\n')
    >>> is_json_lines(str(file))
    True
    """
    with open_binary(path) as handle:
        lines = (line.strip() for line in iter(lambda: handle.readline(MAX_LINE_BYTES), b""))
        first, second = islice(chain(filter(None, lines), (b"", b"")), 2)
    first = first.removeprefix(codecs.BOM_UTF8)
    if second[:1] == first[:1] == b"{":
        return True
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) or second != b""


def array_elements(path: str | Path, *, strict: bool = True) -> Iterator[Any]:
    """Yield each element of the array in a file as soon as it is complete.

    Unless it is strict, NaN is a number and the last of equal keys counts, as in Python's `json`.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = file.write_text('[{"a": 1}, [2, 3]]')
    >>> list(array_elements(file))
    [{'a': 1}, [2, 3]]
    """
    with open_binary(str(path) if "://" in str(path) else str(existing_file(path))) as handle:
        window = _Window(path, handle, strict=strict)
        if window.peek() != "[":
            raise InputError(path, "expected a JSON list")
        window.skip()
        number = 0
        mark = window.peek()
        while mark != "]":
            number += 1
            yield window.element(number)
            mark = window.peek()
            if mark == ",":
                window.skip()
                if window.peek() == "]":
                    raise InputError(path, "has a comma before the end of its list", row=f"after element {number:,}")
            elif mark != "]":
                raise InputError(path, "is not valid JSON" if mark else _TRUNCATED, row=f"after element {number:,}")
        window.skip()
        if window.peek():
            raise InputError(path, "has more text after the end of its JSON list")


class _Window:
    """A window over the file that grows until it contains a whole element."""

    def __init__(self, path: str | Path, handle: IO[bytes], *, strict: bool) -> None:
        self._path = path
        self._handle = handle
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._decoder = json.JSONDecoder()
        if strict:
            self._decoder = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _BLANKS:
                    return self._text[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._grow()

    def skip(self) -> None:
        self._at += 1

    def element(self, number: int) -> Any:
        row = f"element {number:,}"
        if not self.peek():
            raise InputError(self._path, _TRUNCATED, row=row)
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
                # A number at the edge of the window may continue in the next chunk.
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                if self._ended:
                    cut = error.pos >= len(self._text) - 1 or error.msg.startswith("Unterminated")
                    problem = _TRUNCATED if cut else f"is not valid JSON: {error.msg.lower()}"
                    raise InputError(self._path, problem, row=row) from None
            except RecursionError:
                raise InputError(self._path, "is nested too deeply", row=row) from None
            except ValueError as error:
                raise InputError(self._path, str(error), row=row) from None
            if len(self._text) - self._at > MAX_ROW_BYTES:
                raise InputError(self._path, f"is longer than {MAX_ROW_BYTES:,} bytes", row=row)
            # Double the size, so that a long element is parsed only a few times.
            size = 2 * (len(self._text) - self._at)
            self._grow()
            while not self._ended and len(self._text) < size:
                self._grow()

    def _grow(self) -> None:
        raw = self._handle.read(_CHUNK)
        if b"\x00" in raw:
            raise InputError(self._path, "holds a NUL byte; expected UTF-8 JSON")
        try:
            fresh = self._decode.decode(raw, final=not raw)
        except UnicodeDecodeError:
            raise InputError(self._path, "not valid UTF-8") from None
        self._ended = not raw
        self._text = self._text[self._at :] + fresh
        self._at = 0


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("holds an object with the same key twice")
    return unique


def _no_constant(name: str) -> None:
    raise ValueError(f"holds {name}, which is not JSON")
