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
from benchmarks.common.provenance import keep_section, made, problems_of_section, sources_of

RESULT_PAGES = PAGES
READS = "reads files of the commit, and what the arguments name"  # why the record of a section names no data


def write_section(page: Path, name: str, text: str) -> None:
    """Replace a section of a page; one of docs/results only if its sources have a record of what made them."""
    pattern = re.compile(rf"(<!-- begin {re.escape(name)}:[^>]*-->\n).*?(<!-- end {re.escape(name)} -->)", re.DOTALL)
    content, count = pattern.subn(
        lambda match: f"{match[1]}{text.strip()}\n{match[2]}", page.read_text(encoding="utf-8")
    )
    if count != 1:
        raise SystemExit(f"{page}: expected one section named {name}, found {count}")
    if page.parent == RESULT_PAGES:
        if sources_of(page.stem, name) is None:
            words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
            keep_section(page.stem, name, made(settings={"arguments": words}, note=READS))
        if lacking := problems_of_section(page.stem, name):
            raise SystemExit("\n".join(lacking))
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
