"""E-mail addresses and accounts as people write them in chats: "name at gmail dot com", "my insta is name"."""

import re
from collections.abc import Iterator

from emoscope.core.language_words import is_common
from emoscope.corpus.filters.shipped import read_patterns
from emoscope.corpus.filters.spans import Kind, Span, spans_of

_PATTERN = read_patterns("accounts.toml")


def spelled_emails(text: str) -> Iterator[Span]:
    """Addresses whose @ or dots are written as words, or with spaces around them.

    >>> [text[s.start : s.end] for text in ["its ann dot b at gmail dot com ok"] for s in spelled_emails(text)]
    ['ann dot b at gmail dot com']
    """
    yield from spans_of(_PATTERN["joined_email"].finditer(text) if "_at_" in text.lower() else (), Kind.EMAIL)
    for match in _PATTERN["spelled_email"].finditer(text):
        at, dot = match["at"].strip().lower(), match["dot"].strip().lower()
        if at == "@" or at[0] in "[({":
            # "meet @ the mall. it is" has a space after its full stop, as no address has without one before it.
            if dot == "." and re.search(r"\.\s", match["dot"]) and not re.search(r"\s\.", match["dot"]):
                continue
        elif not _PATTERN["mail_hosts"].fullmatch(match["host"]) and (dot == "." or is_common(match["host"].lower())):
            continue  # "look at amazon.com", "look at that dot com bubble"
        yield Span(match.start(), match.end(), Kind.EMAIL)


def handles(text: str) -> Iterator[Span]:
    """Account names: @name, name#1234, u/name, and those introduced as in "my insta is ...".

    >>> [text[s.start : s.end] for text in ["@ann see you @home, my insta is an.na_7"] for s in handles(text)]
    ['@ann', 'an.na_7']
    """
    for match in _PATTERN["at_name"].finditer(text) if "@" in text or "＠" in text else ():
        name = match["name"].lower()
        if not _PATTERN["places"].fullmatch(name) and not _PATTERN["clock"].fullmatch(name):
            yield Span(match.start(), match.end(), Kind.HANDLE)
    introduced = [match for match in _PATTERN["account"].finditer(text) if _is_account(match["name"])]
    introduced += [match for match in _PATTERN["service_next"].finditer(text) if _is_account(match["name"])]
    yield from spans_of(introduced, Kind.HANDLE, "name")
    yield from spans_of(_PATTERN["tagged"].finditer(text), Kind.HANDLE)
    yield from spans_of(_PATTERN["reddit"].finditer(text), Kind.HANDLE)


def _is_account(name: str) -> bool:
    """Whether a name has what words lack, a digit, a symbol or an @: "my snap is broken" names no account."""
    marked = re.search(r"\d|_|\w\.\w|\w-\w", name) and not _PATTERN["clock"].fullmatch(name)
    return name.startswith(("@", "＠")) or bool(marked)
