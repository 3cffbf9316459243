"""Street addresses as written in English, German, French, Spanish, Italian and in India, postcodes and post boxes."""

import re
from collections.abc import Iterator

from emoscope.corpus.filters.shipped import read_patterns
from emoscope.corpus.filters.spans import Kind, Span, spans_of

_PATTERN = read_patterns("street_addresses.toml")
_IDIOM, _PLAIN, _SAID_TO_BE, _SAID_POSTCODE, _TOWN = (
    _PATTERN.pop(name) for name in ("idiom", "plain", "said_to_be", "said_postcode", "town")
)


def street_addresses(text: str) -> Iterator[Span]:
    """Every street with a house number, with the town after it, every flat in India, postcode and post box.

    >>> text = "i live at 12 oak road, its a 5 star street"
    >>> [text[span.start : span.end] for span in street_addresses(text)]
    ['12 oak road']
    """
    if not re.search(r"\d", text):
        return
    for span in _streets(text):
        town = _TOWN.match(text, span.end)
        yield span if town is None else Span(span.start, town.end(), Kind.ADDRESS)
    for match in _SAID_POSTCODE.finditer(text):
        yield Span(*match.span(match.lastgroup or 0), Kind.ADDRESS)


def _streets(text: str) -> Iterator[Span]:
    for pattern in _PATTERN.values():
        yield from spans_of(pattern.finditer(text), Kind.ADDRESS)
    for pattern, group in ((_PLAIN, 0), (_SAID_TO_BE, 1)):
        matches = (match for match in pattern.finditer(text) if not _IDIOM.search(match[group]))
        yield from spans_of(matches, Kind.ADDRESS, group)
