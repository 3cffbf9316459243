"""Numbers of one person: of documents, accounts and records, days of birth, phone numbers as chats write them."""

import re
from collections.abc import Iterator

from emoscope.corpus.filters.shipped import read_patterns
from emoscope.corpus.filters.spans import Kind, Span, spans_of

_PATTERN = read_patterns("numbers.toml")
_OTHER_NUMBER = read_patterns("presidio.toml")["other_number"]
_NAMED = ("document_number", "record_number", "account_number")
_BY_FORM = (
    "pan", "pan_named", "gstin", "codice_fiscale", "dni", "sin", "parcel", "order", "ssn", "plate", "insurance",
    "mixed_reference",
)  # fmt: skip
_LEAST_DIGITS, _LEAST_DIGITS_OF_RARE = 4, 6
_LETTER_ZERO = re.compile(r"(?<![^\W\d_])[oO](?=\d\d)|(?<=\d\d)[oO](?![^\W\d_])")
_COUNTING = re.compile(r"0?123|(\d)\1{6}")


def identity_numbers(text: str) -> Iterator[Span]:
    """Numbers of documents, accounts and records.

    >>> text = "my aadhaar is 4321 8765 2109, order no 4455667788"
    >>> [text[span.start : span.end] for span in identity_numbers(text)]
    ['4321 8765 2109']
    """
    yield from spans_of(_PATTERN["payment_address"].finditer(text) if "@" in text else (), Kind.ID, "value")
    if not re.search(r"\d", text):
        return
    for name in _NAMED:
        for match in _PATTERN[name].finditer(text):
            least = _LEAST_DIGITS_OF_RARE if match.groupdict().get("rare") else _LEAST_DIGITS
            if len(re.findall(r"\d", match["value"])) >= least:
                yield Span(*match.span("value"), Kind.ID)
    for name in _BY_FORM:
        yield from spans_of(_PATTERN[name].finditer(text), Kind.ID, "value")


def birthdates(text: str) -> Iterator[Span]:
    """Days of birth; other dates are nobody's.

    >>> text = "born 3rd june 2001, moved on 14/03/2017"
    >>> [text[span.start : span.end] for span in birthdates(text)]
    ['3rd june 2001']
    """
    yield from spans_of(_PATTERN["birthdate"].finditer(text), Kind.BIRTHDATE, "value")


def with_zeros(text: str) -> str:
    """The text with zeros for the letters O that stand for them in phone numbers.

    >>> with_zeros("o98 7654 321o or O2")
    '098 7654 3210 or O2'
    """
    return _LETTER_ZERO.sub("0", text)


def chat_phones(text: str) -> Iterator[Span]:
    """Phone numbers that only the words before them tell: short ones, spaced digits, digits as words.

    >>> text = "txt 555-0147 or call 9 8 7 6 5 4 3 2 1 0, i count 1 2 3 4 5 6 7"
    >>> [text[span.start : span.end] for span in chat_phones(text)]
    ['555-0147', '9 8 7 6 5 4 3 2 1 0']
    """
    text = with_zeros(text)
    for name in ("local_phone", "spaced_phone"):
        for match in _PATTERN[name].finditer(text):
            digits = "".join(re.findall(r"\d", match["value"]))
            if not _COUNTING.match(digits) and not _OTHER_NUMBER.search(text[: match.start("value")]):
                yield Span(*match.span("value"), Kind.PHONE)
    yield from spans_of(_PATTERN["spoken_phone"].finditer(text), Kind.PHONE, "value")
