"""Checks of the texts that people enter."""

import unicodedata

from emoscope.server.errors import Invalid
from emoscope.server.store.names import has_control_characters, one_line


def clean_line(text: str, field: str, limit: int, *, required: bool = False) -> str:
    """A text on one line.

    >>> clean_line(" two \\n lines ", "note", 300)
    'two lines'
    """
    return _checked(one_line(text), field, limit, required=required, lines=False)


def clean_lines(text: str, field: str, limit: int, *, required: bool = False) -> str:
    """A text of several lines, without blanks at their ends."""
    lines = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _checked("\n".join(line.rstrip() for line in lines).strip(), field, limit, required=required, lines=True)


def printable(text: str, *, lines: bool = False) -> str:
    """A pydantic validator that refuses control characters, which some databases cannot store and no page shows."""
    if has_control_characters(text, lines=lines):
        raise ValueError("must not contain control characters")
    return text


def _checked(text: str, field: str, limit: int, *, required: bool, lines: bool) -> str:
    if len(text) > limit or (required and not text):
        length = f"1 to {limit:,}" if required else f"at most {limit:,}"
        raise Invalid(f"the {field} must have {length} characters", field=field)
    if has_control_characters(text, lines=lines):
        raise Invalid(f"the {field} must not contain control characters", field=field)
    return text
