"""Stream the elements of a large JSON array without holding the whole document."""

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emoscope.core.errors import InputError
from emoscope.core.files import existing_file

_CHUNK = 1 << 16
_MAX_ELEMENT = 1 << 26  # characters; one dialogue is a few thousand


def array_elements(path: str | Path) -> Iterator[Any]:
    """Yield each element of the array a file holds, as soon as it is complete.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = file.write_text('[{"a": 1}, [2, 3]]')
    >>> list(array_elements(file))
    [{'a': 1}, [2, 3]]
    """
    buffer = _Buffer(path)
    if buffer.peek() != "[":
        raise InputError(path, "expected a JSON list")
    buffer.skip()
    number = 0
    if buffer.peek() == "]":
        buffer.skip()
    else:
        while True:
            number += 1
            yield buffer.element(number)
            mark = buffer.peek()
            buffer.skip()
            if mark == "]":
                break
            if mark != ",":
                where = f"after element {number:,}"
                raise InputError(
                    path, "ends early: the file is truncated" if not mark else "is not valid JSON", row=where
                )
    if buffer.peek():
        raise InputError(path, "has more text after the end of its JSON list")


class _Buffer:
    """A window over the file that grows until it holds one whole element."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.handle = existing_file(path).open("rb")
        self.decode = codecs.getincrementaldecoder("utf-8-sig")()
        self.decoder = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        self.text = ""
        self.at = 0
        self.ended = False

    def _grow(self) -> None:
        raw = self.handle.read(_CHUNK)
        if b"\x00" in raw:
            raise InputError(self.path, "holds a NUL byte; expected UTF-8 JSON")
        try:
            fresh = self.decode.decode(raw, final=not raw)
        except UnicodeDecodeError:
            raise InputError(self.path, "not valid UTF-8") from None
        if not raw:
            self.ended = True
            self.handle.close()
        self.text = self.text[self.at :] + fresh
        self.at = 0

    def peek(self) -> str:
        """The next character that is not white space, or nothing at the end."""
        while True:
            while self.at < len(self.text):
                if not self.text[self.at].isspace():
                    return self.text[self.at]
                self.at += 1
            if self.ended:
                return ""
            self._grow()

    def skip(self) -> None:
        self.at += 1

    def element(self, number: int) -> Any:
        where = f"element {number:,}"
        if not self.peek():
            raise InputError(self.path, "ends early: the file is truncated", row=where)
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.at)
                # A number at the window's edge may go on in the next chunk.
                if end < len(self.text) or self.ended:
                    self.at = end
                    return value
            except json.JSONDecodeError as error:
                if self.ended:
                    cut = error.pos >= len(self.text) - 1 or error.msg.startswith("Unterminated")
                    problem = "ends early: the file is truncated" if cut else f"is not valid JSON: {error.msg.lower()}"
                    raise InputError(self.path, problem, row=where) from None
            except RecursionError:
                raise InputError(self.path, "is nested too deeply", row=where) from None
            except ValueError as error:
                raise InputError(self.path, str(error), row=where) from None
            if len(self.text) - self.at > _MAX_ELEMENT:
                raise InputError(self.path, f"is longer than {_MAX_ELEMENT:,} characters", row=where)
            self._grow_twofold()

    def _grow_twofold(self) -> None:
        """Double the window, so that a long element is parsed a few times only."""
        wanted = 2 * (len(self.text) - self.at)
        self._grow()
        while not self.ended and len(self.text) < wanted:
            self._grow()


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("holds an object with the same key twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"holds {name}, which is not JSON")
