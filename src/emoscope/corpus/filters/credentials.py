"""Find disclosed passwords, PINs and document numbers; merely mentioning one is harmless."""

import re

from emoscope.core.language_words import is_common
from emoscope.corpus.filters.shipped import read_patterns

_PATTERN = read_patterns("credentials.toml")


def discloses_credentials(text: str) -> bool:
    """Whether a text discloses a password, PIN, code or document number.

    >>> [discloses_credentials(text) for text in ("my password is hunter2", "my password is too long", "pin: 4821")]
    [True, False, True]
    """
    if _PATTERN["number"].search(text) or _PATTERN["document"].search(text):
        return True
    if _PATTERN["sent_code"].search(text) and _PATTERN["sent"].search(text):
        return True
    for match in _PATTERN["word"].finditer(text):
        if _is_secret(match["value"], named=":" in match["link"] or "=" in match["link"]):
            return True
    if any(_is_mixed(match["value"]) for match in _PATTERN["next_word"].finditer(text)):
        return True
    return any(_is_mixed(match["other"]) for match in _PATTERN["pair"].finditer(text))


def _is_secret(value: str, *, named: bool) -> bool:
    """Whether a word in a password's place is a password; after a colon, it may look like a word."""
    bare = value.strip(".,;?)\"'`")
    if _is_mixed(bare) or (bare.isdigit() and len(bare) >= 4):
        return True
    plain = bare.rstrip("!").lower()
    return len(plain) >= 5 and plain.isalpha() and not is_common(plain) and (named or len(plain) >= 6)


def _is_mixed(value: str) -> bool:
    """Whether letters are mixed with digits or symbols, unlike in any word."""
    bare = value.strip(".,;?)\"'`")
    if len(bare) < 4 or re.fullmatch(r"\d+(?:st|nd|rd|th|am|pm|k|m)?|\d+[:.]\d+\w*|[a-z]+'[a-z]+", bare, re.IGNORECASE):
        return False
    return bool(re.search(r"[a-z]", bare, re.IGNORECASE)) and bool(re.search(r"[0-9@#$%^&*_]|!(?=\w)", bare))
