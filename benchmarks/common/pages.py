"""Generated sections of the pages in docs/results.

A section stands between `<!-- begin NAME: how it is made -->` and `<!-- end NAME -->`; everything outside is written by
people.
"""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TextIO

from benchmarks.common.paths import PAGES


def write_section(page: Path, name: str, text: str) -> None:
    """Replace a section of a page."""
    pattern = re.compile(rf"(<!-- begin {re.escape(name)}:[^>]*-->\n).*?(<!-- end {re.escape(name)} -->)", re.DOTALL)
    content, count = pattern.subn(
        lambda match: f"{match[1]}{text.strip()}\n{match[2]}", page.read_text(encoding="utf-8")
    )
    if count != 1:
        raise SystemExit(f"{page}: expected one section named {name}, found {count}")
    page.write_text(content, encoding="utf-8")


class _Tee(io.StringIO):
    """Keeps what is printed, and shows it too."""

    def __init__(self, shown: TextIO) -> None:
        super().__init__()
        self._shown = shown

    def write(self, text: str) -> int:
        self._shown.write(text)
        return super().write(text)

    def flush(self) -> None:
        self._shown.flush()


@contextmanager
def printed_section(page: str, name: str, *, write: bool) -> Iterator[None]:
    """Let what is printed within the block replace a section of docs/results/PAGE.md, if `write` is true."""
    printed = _Tee(sys.stdout)
    with redirect_stdout(printed):
        yield
    if write:
        write_section(PAGES / f"{page}.md", name, printed.getvalue())
