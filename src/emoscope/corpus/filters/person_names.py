"""Names of people, without a model: by lists of first names, titles, and the phrases people introduce themselves with.

A capitalised first name is a person, unless it is also a word or a place. In lower case it needs a phrase such as "my
name is": who writes "i'm sad" is not called Sad, and "mark my words" is not about Mark.
"""

import re
from collections.abc import Iterator

from emoscope.core.language_words import is_common
from emoscope.corpus.filters.shipped import listed_words, read_patterns
from emoscope.corpus.filters.spans import Kind, Span

_PATTERN = read_patterns("person_names.toml")
_WORDS = listed_words("names_words.txt")
_PLACES = listed_words("names_places.txt")
_ONLY_NAMES = listed_words("names.txt", "names_more.txt") - _WORDS - _PLACES
_NAMES = _ONLY_NAMES | _WORDS | _PLACES
_NOT_NAMES = listed_words("not_names.txt")


def person_names(text: str) -> Iterator[Span]:
    """The names of people in a text.

    >>> text = "im anna and Rahul Sharma is my boss, mark my words"
    >>> [text[span.start : span.end] for span in person_names(text)]
    ['anna', 'Rahul Sharma']
    """
    for match in _PATTERN["says_name"].finditer(text):
        if not _is_word(match["name"].split()[0]):
            yield Span(*match.span("name"), Kind.NAME)
    for match in _PATTERN["may_say_name"].finditer(text):
        yield from _introduced(text, match)
    for pattern in (_PATTERN["title"], _PATTERN["relation"]):
        for match in pattern.finditer(text):
            if not _is_word(match["first"]):
                yield Span(*match.span("name"), Kind.NAME)
    shouted = _written_in_capitals(text)
    for match in _PATTERN["capitalised"].finditer(text):
        if _is_person(text, match, shouted=shouted):
            yield Span(*match.span(), Kind.NAME)


def _introduced(text: str, match: re.Match[str]) -> Iterator[Span]:
    name = match["name"]
    first = name.split()[0]
    plain = first.lower()
    if plain in _ONLY_NAMES:
        yield Span(*match.span("name"), Kind.NAME)
    elif first[0].isupper() and first[1:].islower() and not _is_word(first) and plain not in _PLACES:
        # "I'm Olufemi", but not "I'm Batman and you're Robin" nor "this is Sparta".
        asks = re.match(r"i[^t]|call|name", match.group().lower())
        if asks and (" " in name or _PATTERN["sure_after"].match(text, match.end())):
            yield Span(*match.span("name"), Kind.NAME)


def _is_person(text: str, match: re.Match[str], *, shouted: bool) -> bool:
    first, rest = match["first"].lower(), match["rest"]
    if first not in _NAMES and first.split("-")[0] not in _NAMES:
        return False
    doubtful = first in _WORDS or first in _PLACES
    if doubtful and (shouted or match["first"].isupper()):
        return False
    if rest:
        return not doubtful or not any(_is_word(word) for word in rest.split())
    if first in _PLACES:
        return False
    return first not in _WORDS or not _PATTERN["sentence_start"].search(text[: match.start()])


def _written_in_capitals(text: str) -> bool:
    """Whether most words are capitalised, so that a capital does not mark a name."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    capital = sum(word[0].isupper() for word in words)
    return len(words) >= 3 and capital * 3 >= len(words) * 2


def _is_word(word: str) -> bool:
    """Whether this is a common word and not a name, even where a name is expected."""
    plain = word.lower()
    return plain in _NOT_NAMES or (is_common(plain) and plain not in _ONLY_NAMES)
