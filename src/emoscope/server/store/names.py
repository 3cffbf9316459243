"""Names of teams and people: safe to show anywhere, and no two that look alike."""

import re
import unicodedata

from emoscope.server.errors import Invalid

MAX_NAME = 60
_MARKUP = re.compile(r"[<>&\"`\\/]")


def clean_name(text: str, field: str) -> str:
    """A name, tidied; markup, paths and invisible characters are refused.

    >>> clean_name("  Team   Joy ", "team")
    'Team Joy'
    >>> clean_name("<b>bold</b>", "team")
    Traceback (most recent call last):
    emoscope.server.errors.Invalid: the team name may not hold '<'
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise Invalid(f"the {field} name is missing", field=field)
    if len(name) > MAX_NAME:
        raise Invalid(f"the {field} name is longer than {MAX_NAME} characters", field=field)
    if markup := _MARKUP.search(name):
        raise Invalid(f"the {field} name may not hold {markup[0]!r}", field=field)
    if has_control_characters(name):
        raise Invalid(f"the {field} name may not hold control or invisible characters", field=field)
    if not any(mark.isalnum() for mark in name):
        raise Invalid(f"the {field} name needs a letter or digit", field=field)
    # A spreadsheet would take it for a formula.
    if name[0] in "=+-@":
        raise Invalid(f"the {field} name may not begin with {name[0]!r}", field=field)
    return name


def name_key(name: str) -> str:
    """The form in which names are compared.

    >>> name_key("Team JOY") == name_key("ｔｅａｍ joy")
    True
    """
    return unicodedata.normalize("NFKC", name).casefold()[:128]


def has_control_characters(text: str) -> bool:
    """Whether a text holds control or invisible characters."""
    return any(unicodedata.category(character)[0] == "C" for character in text)
