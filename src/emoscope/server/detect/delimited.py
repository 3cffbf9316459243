"""Detects and splits tables separated by commas, semicolons, vertical bars or tabs."""

import csv
import io
import re

from emoscope.core.errors import InputError
from emoscope.server.detect.columns import names_text

_DELIMITERS = {"csv": ",;|\t", "tsv": "\t", "tab": "\t"}  # by file extension
_NAME = re.compile(r"[^\W\d][\w.-]{0,29}")


def table_rows(text: str, name: str = "") -> list[list[str]] | None:
    """The rows of a table, or None if the text is not a table. Files are recognised by their extension.

    >>> table_rows("speaker,text\\nAna,hi\\nBen,\\"so, you won\\"")
    [['speaker', 'text'], ['Ana', 'hi'], ['Ben', 'so, you won']]
    >>> table_rows("Hello, Ben\\nYes, Ana") is None
    True
    """
    named = _DELIMITERS.get(name.rpartition(".")[2].lower() if "." in name else "")
    if named is not None:
        first = text.partition("\n")[0]
        rows = _rows(text, max(named, key=first.count), name)
        return _even(rows, name)
    for delimiter in "\t,;|":
        head = [cell.strip('"') for cell in text.partition("\n")[0].split(delimiter)]
        if len(head) < 2 or "\n" not in text:
            continue
        if all(map(_NAME.fullmatch, head)) and names_text(head):
            return _even(_rows(text, delimiter, "the table"), "the table")
        try:
            rows = _rows(text, delimiter, "")
        except InputError:
            continue
        if _looks_like_table(rows, delimiter):
            return rows
    return None


def _looks_like_table(rows: list[list[str]], delimiter: str) -> bool:
    """Whether rows without known column names form a table, rather than a chat with commas."""
    if len({len(row) for row in rows}) > 1 or len(rows) < 2:
        return False
    if delimiter == "\t":  # nobody types tabs in a chat
        return True
    named = all(map(_NAME.fullmatch, rows[0])) and len(set(rows[0])) == len(rows[0])
    spaced = any(cell.startswith(" ") for row in rows for cell in row)
    return not spaced and (named or len(rows) > 2 or len(rows[0]) > 2)


def _rows(text: str, delimiter: str, name: str) -> list[list[str]]:
    """The rows that are not blank. Tab-separated chats are not quoted: a single quotation mark is text."""
    if delimiter == "\t":
        return [line.split("\t") for line in text.split("\n") if line.strip()]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InputError(name, f"is not a valid row ({error})", row=reader.line_num) from None


def _even(rows: list[list[str]], name: str) -> list[list[str]]:
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise InputError(name, f"expected {len(rows[0])} columns, found {len(row)}", row=number)
    return rows
