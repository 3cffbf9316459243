"""Checks names and texts that people enter: safe to display, and names not confusable with others."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from emoscope.server.errors import Invalid

MAX_NAME = 60
# Patterns for JSON schemas; only single lines must not contain marks that change the writing direction.
LINE_PATTERN = r"^[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*$"
TEXT_PATTERN = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
_FORMULA = "=+-@"
_MARKUP = re.compile(r"[<>\"`\\/]")
_DIRECTION = "\u200e"  # the table puts it around right-to-left letters
_MARKS = 3  # per letter; more would cover the lines around it


def clean_name(text: str, kind: str, field: str | None = None) -> str:
    """A normalised name; markup, paths, invisible characters and stacked marks are refused.

    A refusal names `field`, or else the kind of name.

    >>> clean_name("  Smith &  Jones ", "team")
    'Smith & Jones'
    >>> clean_name("<b>bold</b>", "team")
    Traceback (most recent call last):
    emoscope.server.errors.Invalid: the team name may not hold '<'
    """
    field = field or kind
    name = one_line(text)
    if not name:
        raise Invalid(f"the {kind} name is missing", field=field)
    if len(name) > MAX_NAME:
        raise Invalid(f"the {kind} name is longer than {MAX_NAME} characters", field=field)
    if markup := _MARKUP.search(name):
        raise Invalid(f"the {kind} name may not hold {markup[0]!r}", field=field)
    if any(unicodedata.category(character)[0] == "C" for character in name):
        raise Invalid(f"the {kind} name may not hold control or invisible characters", field=field)
    if _stacks_marks(name):
        raise Invalid(f"the {kind} name may not stack accents and other marks on one letter", field=field)
    if not any(mark.isalnum() for mark in name):
        raise Invalid(f"the {kind} name needs a letter or digit", field=field)
    # A spreadsheet would read it as a formula.
    if name[0] in _FORMULA:
        raise Invalid(f"the {kind} name may not begin with {name[0]!r}", field=field)
    return name


def one_line(text: str) -> str:
    """A text on one line, in NFC and with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def name_key(name: str) -> str:
    """The form in which names are compared.

    >>> name_key("Team JOY") == name_key("ｔｅａｍ joy")
    True
    """
    return unicodedata.normalize("NFKC", name).casefold()[:128]


def _stacks_marks(name: str) -> bool:
    """Whether a letter has too many marks, the same mark twice, or an enclosing mark."""
    stack = ""
    for character in unicodedata.normalize("NFD", name):
        kind = unicodedata.category(character)
        stack = stack + character if kind == "Mn" else ""
        if kind == "Me" or len(stack) > _MARKS or len(set(stack)) < len(stack):
            return True
    return False


def looks_like_any(name: str, others: Iterable[str]) -> bool:
    """Whether a name looks like one of the others, by Unicode's table of confusable characters (UTS 39).

    >>> looks_like_any("\u0410urora", ["Aurora"]), looks_like_any("Aurora", ["Borealis"])
    (True, False)
    """
    own = _looks(name)
    return any(own & _looks(other) for other in others)


def _looks(name: str) -> frozenset[str]:
    """The skeletons of a name as written and in lower case: "I" looks like "l", "i" does not."""
    return frozenset({skeleton(name), skeleton(name.casefold())})


@lru_cache(maxsize=100_000)
def skeleton(name: str) -> str:
    """How a name looks: each character is replaced by the prototype of those it can be confused with.

    >>> skeleton("\u0410urora") == skeleton("AURORA"), skeleton("modern") == skeleton("rnodem")
    (True, True)
    """
    prototypes = _prototypes()
    seen = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", name))
    alike = "".join(prototypes.get(character, character) for character in seen)
    return unicodedata.normalize("NFD", alike.casefold())


@cache
def _prototypes() -> dict[str, str]:
    """The prototype of each confusable character: a sequence, the only ASCII letter, or the lowest of its group."""
    from confusable_homoglyphs.confusables import confusables_data

    group: dict[str, set[str]] = {}
    for key, homoglyphs in confusables_data.items():
        for other in (homoglyph["c"].strip(_DIRECTION) for homoglyph in homoglyphs):
            text = key.strip(_DIRECTION)
            if group.get(text) is not (joined := group.get(other)) or joined is None:
                both = group.get(text, {text}) | group.get(other, {other})
                group.update(dict.fromkeys(both, both))
    prototypes: dict[str, str] = {}
    for alike in {id(one): one for one in group.values()}.values():
        letters = [text for text in alike if len(text) == 1 and text.isascii() and text.isalpha()]
        longest = max(map(len, alike))
        chosen = letters[0] if longest == 1 and len(letters) == 1 else min(one for one in alike if len(one) == longest)
        prototypes |= {text: chosen for text in alike if len(text) == 1}
    return prototypes


def cell(value: object) -> object:
    """A value for a CSV file; text that a spreadsheet would run as a formula is escaped.

    >>> cell("=1+1"), cell(None), cell(0.5)
    ("'=1+1", '', 0.5)
    """
    if isinstance(value, str) and value[:1] in {*_FORMULA, "\t", "\r"}:
        return f"'{value}"
    return "" if value is None else value


def has_control_characters(text: str, *, lines: bool = False) -> bool:
    r"""Whether a line contains control characters, or marks that change the writing direction.

    With `lines`, the text may have several lines. Joiners in emoji are allowed.

    >>> has_control_characters("a\tb"), has_control_characters("a\tb", lines=True)
    (True, False)
    >>> has_control_characters("\U0001f469\u200d\U0001f52c")
    False
    """
    return re.fullmatch(TEXT_PATTERN if lines else LINE_PATTERN, text) is None


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
