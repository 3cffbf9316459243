"""Names of people, without a model: by lists of first names, titles, and the phrases people introduce themselves with.

A capitalised first name is a person, unless it is also a word or a place. In lower case it needs a phrase such as "my
name is": who writes "i'm sad" is not called Sad, and "mark my words" is not about Mark.
"""

import re
from collections.abc import Iterator
from functools import cache

from emoscope.corpus.filters.language_words import is_common, listed_words
from emoscope.corpus.filters.spans import Kind, Span

_LETTERS = r"[^\W\d_]"
_ANY = rf"{_LETTERS}{{2,}}(?:['’-]{_LETTERS}{{2,}})*"
_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪİĶĹĻŁŃŅŇŌŐŒŔŘŚŞŠŤŪŮŰŹŻŽŞȘȚ]"
_PROPER = rf"{_CAPITAL}{_LETTERS}+(?:['’-]{_CAPITAL}?{_LETTERS}+)*"
_PARTICLE = r"(?:de|del|de\sla|da|dos|van|von|der|van\sder|den|bin|al|O['’]|Mc|Mac|St\.)"
_REST = rf"(?:\s+(?:{_PARTICLE}\s+)?{_PROPER}){{0,3}}"

# After these comes a name, whatever it is, unless it is a common word ("my name is not ...").
_SAYS_NAME = re.compile(
    rf"\b(?i:my\s+(?:full\s+|first\s+|last\s+|real\s+|nick)?name\s*(?:is|'s|’s|:)|my\s+names|"
    rf"(?:his|her|their|whose)\s+name\s+(?:is|was)|i\s+am\s+called|i'm\s+called|me\s+llamo|mi\s+nombre\s+es|"
    rf"je\s+m['’]appelle|ich\s+hei(?:ß|ss)e|mein\s+name\s+ist|mera\s+naam|mi\s+chiamo|meu\s+nome\s+[ée])\s*"
    rf"(?P<name>{_ANY}(?:{_REST}|(?:\s+{_ANY})?(?=\s*(?:[.!?,]|$))))"
)
# After these comes a name only if it is a known one, or has a capital and is no common word.
_MAY_SAY_NAME = re.compile(
    rf"\b(?i:i\s*['’]?\s?a?m|call\s+me|names?\s*(?:'s|’s|:|is)|this\s+is|it['’]?s\s+me,?|it['’]?s|its)\s+(?P<name>{_ANY}{_REST})"
)
_SURE_AFTER = re.compile(
    r"\s*(?:[.!?,)]|$|here\b|speaking\b|from\b|and\s+you\b|btw\b|nice\b|by\s+the\b)", re.IGNORECASE
)
_TITLE = re.compile(
    rf"\b(?P<name>(?i:mr|mrs|ms|miss|dr|prof|professor|sir|madam|señora?|sra?|herr|frau|monsieur|madame)\.?\s+(?P<first>{_PROPER}){_REST})"
)
_RELATION = re.compile(
    rf"\b(?i:my|his|her|our|your|their)\s+(?:\w+\s+)?(?i:friend|bff|bestie|boyfriend|girlfriend|bf|gf|husband|wife|brother|"
    rf"sister|bro|sis|cousin|son|daughter|boss|colleague|teacher|roommate|neighbou?r|uncle|aunt|aunty|auntie|ex|fianc[ée]e?|"
    rf"partner|dad|mom|kid|baby|classmate|coworker)\s*,?\s+(?P<name>(?P<first>{_PROPER}){_REST})"
)
_CAPITALISED = re.compile(rf"(?<![\w@#/.])(?P<first>{_PROPER})(?P<rest>{_REST})(?!\w)")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:\n]\s*|[\"“(*]\s*)$")


def person_names(text: str) -> Iterator[Span]:
    """The names of people in a text.

    >>> text = "im anna and Rahul Sharma is my boss, mark my words"
    >>> [text[span.start : span.end] for span in person_names(text)]
    ['anna', 'Rahul Sharma']
    """
    for match in _SAYS_NAME.finditer(text):
        if not _is_word(match["name"].split()[0]):
            yield _span(match)
    for match in _MAY_SAY_NAME.finditer(text):
        yield from _introduced(text, match)
    for pattern in (_TITLE, _RELATION):
        for match in pattern.finditer(text):
            if not _is_word(match["first"]):
                yield _span(match)
    shouted = _written_in_capitals(text)
    for match in _CAPITALISED.finditer(text):
        if _is_person(text, match, shouted=shouted):
            yield Span(match.start(), match.end(), Kind.NAME)


def _introduced(text: str, match: re.Match[str]) -> Iterator[Span]:
    name = match["name"]
    first = name.split()[0]
    plain = first.lower()
    if plain in _names() - _words() - _places():
        yield _span(match)
    elif first[0].isupper() and first[1:].islower() and not _is_word(first) and plain not in _places():
        # "I'm Olufemi", but not "I'm Batman and you're Robin" nor "this is Sparta".
        asks = re.match(r"i[^t]|call|name", match.group().lower())
        if asks and (" " in name or _SURE_AFTER.match(text, match.end())):
            yield _span(match)


def _is_person(text: str, match: re.Match[str], *, shouted: bool) -> bool:
    first, rest = match["first"].lower(), match["rest"]
    if first not in _names() and first.split("-")[0] not in _names():
        return False
    doubtful = first in _words() or first in _places()
    if doubtful and (shouted or match["first"].isupper()):
        return False
    if rest:
        return not doubtful or not any(_is_word(word) for word in rest.split())
    if first in _places():
        return False
    return first not in _words() or not _SENTENCE_START.search(text[: match.start()])


def _written_in_capitals(text: str) -> bool:
    """Whether most words are capitalised, so that a capital does not mark a name."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    capital = sum(word[0].isupper() for word in words)
    return len(words) >= 3 and capital * 3 >= len(words) * 2


def _is_word(word: str) -> bool:
    """Whether this is a common word and not a name, even where a name is expected."""
    plain = word.lower()
    return plain in _not_names() or (is_common(plain) and plain not in _names() - _words() - _places())


def _span(match: re.Match[str]) -> Span:
    return Span(match.start("name"), match.end("name"), Kind.NAME)


@cache
def _names() -> frozenset[str]:
    return frozenset(listed_words("names.txt") + listed_words("names_more.txt")) | _words() | _places()


@cache
def _words() -> frozenset[str]:
    return frozenset(listed_words("names_words.txt"))


@cache
def _not_names() -> frozenset[str]:
    return frozenset(listed_words("not_names.txt"))


@cache
def _places() -> frozenset[str]:
    return frozenset(listed_words("names_places.txt"))
