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
    def write(self, text: str) -> int:
        sys.__stdout__.write(text) if sys.__stdout__ else None
        return super().write(text)


@contextmanager
def printed_section(page: str, name: str, *, write: bool) -> Iterator[None]:
    """Let what is printed within the block replace a section of docs/results/PAGE.md, if `write` is true."""
    shown = _Tee()
    with redirect_stdout(shown):
        yield
    if write:
        write_section(PAGES / f"{page}.md", name, shown.getvalue())
