"""Spans of personal data in a text, and how overlaps are resolved."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Kinds of personal data, masked as `<EMAIL>` and so on; if spans overlap, the kind listed first wins."""

    EMAIL = "email"
    URL = "url"
    IBAN = "iban"
    CARD = "card"
    IP = "ip"
    ID = "id"
    BIRTHDATE = "birthdate"
    ADDRESS = "address"
    PHONE = "phone"
    HANDLE = "handle"
    NAME = "name"


_RANK = {kind: rank for rank, kind in enumerate(Kind)}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Personal data from `start` up to `end`."""

    start: int
    end: int
    kind: Kind


def spans_of(matches: Iterable[re.Match[str]], kind: Kind, group: int | str = 0) -> Iterator[Span]:
    """The span of a group of each match."""
    return (Span(*match.span(group), kind) for match in matches)


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """The spans without overlaps, in text order: the first kind wins, then the longest span.

    >>> without_overlaps([Span(0, 5, Kind.NAME), Span(0, 13, Kind.EMAIL), Span(20, 24, Kind.NAME)])
    [Span(start=0, end=13, kind=<Kind.EMAIL: 'email'>), Span(start=20, end=24, kind=<Kind.NAME: 'name'>)]
    """
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (_RANK[span.kind], span.start - span.end, span.start)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)


def masked_text(text: str, spans: Iterable[Span]) -> str:
    """The text with each span replaced by its kind.

    >>> masked_text("call 555-0100 now", [Span(5, 13, Kind.PHONE)])
    'call <PHONE> now'
    """
    parts, end = [], 0
    for span in spans:
        parts += [text[end : span.start], f"<{span.kind.name}>"]
        end = span.end
    return "".join([*parts, text[end:]])
