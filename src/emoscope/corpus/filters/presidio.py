"""Presidio's recognisers of e-mail, links, cards, IBANs, IP and phone numbers, adapted to chats.

They are called directly, because Presidio's engine needs a spaCy model, and only where a cheap test shows that there
could be something to find: most turns have neither an @ nor a digit.
"""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from emoscope.core.extras import require
from emoscope.core.language_words import is_common
from emoscope.corpus.filters.numbers import with_zeros
from emoscope.corpus.filters.shipped import read_patterns
from emoscope.corpus.filters.spans import Kind, Span, spans_of

# Numbers without a country code are read as numbers of these countries.
REGIONS = ("US", "GB", "IN", "CA", "AU", "NZ", "IE", "DE", "FR", "ES", "IT", "NL", "SE", "PL", "BR", "MX")

# Presidio imports these, if installed, for engines not used here: ten seconds and 300 MB in every process.
_ENGINE_PACKAGES = ("torch", "transformers", "stanza", "gliner")

_PATTERN = read_patterns("presidio.toml")
_LONGEST_LINK = 200
_WORDS_AS_ENDINGS = ("at", "be", "co")
_WORDS_ELSEWHERE = ("ca", "de", "es", "ie", "mx", "se")


class PresidioFinder:
    """Finds e-mail addresses, links, card, IBAN, IP and phone numbers.

    >>> [span.kind.value for span in PresidioFinder().find("ann@example.com or +44 20 7946 0958")]
    ['email', 'phone']
    """

    def __init__(self) -> None:
        with _hidden(*_ENGINE_PACKAGES):
            recognisers = require("presidio_analyzer.predefined_recognizers", extra="corpus")
        # Presidio logs every word that only looks like an IBAN.
        logging.getLogger("presidio-analyzer").setLevel(logging.CRITICAL)
        self._email = _offline_email(recognisers.EmailRecognizer)
        self._url = recognisers.UrlRecognizer()
        self._card = recognisers.CreditCardRecognizer()
        self._iban = recognisers.IbanRecognizer()
        self._ip = recognisers.IpRecognizer()
        self._phone = recognisers.PhoneRecognizer(supported_regions=REGIONS)

    def __reduce__(self) -> tuple[type["PresidioFinder"], tuple[()]]:
        return PresidioFinder, ()  # each process creates its own

    def find(self, text: str) -> list[Span]:
        """All spans, which may overlap."""
        spans: list[Span] = []
        if "@" in text:
            spans += _spans(self._email, text, Kind.EMAIL)
        if "." in text:
            spans += self._links(text)
        digits = len(re.findall(r"\d", text))
        if digits >= 4 or text.count(":") > 1:
            spans += self._addresses(text)
        if digits >= 7:
            spans += self._phones(text)
        if digits >= 12:
            spans += (card for card in _spans(self._card, text, Kind.CARD) if not _is_part(text, card))
            cards = _PATTERN["mastercard_2"].finditer(text)
            spans += spans_of((card for card in cards if self._card.validate_result(card.group())), Kind.CARD)
        if digits >= 10:
            # Chats write IBANs in small letters too; upper case must not move any character.
            upper = text.upper()
            spans += _spans(self._iban, upper if len(upper) == len(text) else text, Kind.IBAN)
        return spans

    def _links(self, text: str) -> Iterator[Span]:
        yield from spans_of(_PATTERN["scheme"].finditer(text), Kind.URL)
        yield from spans_of(_PATTERN["bare_domain"].finditer(text), Kind.URL)
        # Presidio's pattern is very slow on long texts, so it is given single words.
        for word in _PATTERN["word_with_dot"].finditer(text):
            if len(word.group()) <= _LONGEST_LINK:
                for link in _spans(self._url, word.group(), Kind.URL):
                    span = Span(link.start + word.start(), link.end + word.start(), Kind.URL)
                    if _is_bare_link(text, span):
                        yield span

    def _addresses(self, text: str) -> Iterator[Span]:
        for span in _spans(self._ip, text, Kind.IP):
            if "." not in text[span.start : span.end] or not _PATTERN["version"].search(text[: span.start]):
                yield span

    def _phones(self, text: str) -> Iterator[Span]:
        text = with_zeros(text)
        for span in _spans(self._phone, text, Kind.PHONE):
            number, before = text[span.start : span.end], text[: span.start]
            counting = re.search(r"(?:\b\d\b\W*){5}", number)  # 1 2 3 4 5
            other = _PATTERN["other_number"].search(before) or _PATTERN["amount"].search(before)
            digits = len(re.findall(r"\d", number))
            # Short numbers are numbers of anything, unless the text speaks of calling.
            long = digits >= 10 or (digits >= 8 and _PATTERN["phone_word"].search(text))
            if number.startswith("+") or (long and not (counting or other or _PATTERN["date"].fullmatch(number))):
                yield span


def _is_part(text: str, span: Span) -> bool:
    """Whether a number goes on before or after a hyphen, as an order's does."""
    return bool(re.search(r"\d-$", text[: span.start]) or re.match(r"-\d", text[span.end :]))


def _is_bare_link(text: str, span: Span) -> bool:
    """Whether a link without a scheme is one, and neither part of a word nor two sentences without a space."""
    host, _, path = text[span.start : span.end].partition("/")
    labels = host.lower().rstrip(".").split(".")
    before, after = text[span.start - 1 : span.start], text[span.end : span.end + 1]
    if before.isalnum() or after.isalnum() or before in ("@", ".", "_", "-") or len(labels) < 2 or not all(labels):
        return False
    if path:
        return True
    name, ending = labels[-2:]
    if ending != "com" and len(name) < 2:
        return False  # a degree such as B.tech
    may_be_words = ending in _WORDS_AS_ENDINGS or (ending in _WORDS_ELSEWHERE and (len(name) < 4 or is_common(name)))
    return bool(_PATTERN["bare_endings"].fullmatch(ending)) and (len(labels) > 2 or not may_be_words)


def _spans(recogniser: Any, text: str, kind: Kind) -> list[Span]:
    results = recogniser.analyze(text, recogniser.supported_entities)
    return [Span(result.start, result.end, kind) for result in results if result.score >= 0.3]


@contextmanager
def _hidden(*packages: str) -> Iterator[None]:
    """Make packages that are not loaded yet look uninstalled within the block."""
    unloaded = [name for name in packages if name not in sys.modules]
    for name in unloaded:
        sys.modules[name] = None  # type: ignore[assignment]  # makes `import name` raise ImportError
    try:
        yield
    finally:
        for name in unloaded:
            del sys.modules[name]


def _offline_email(recogniser: Any) -> Any:
    """Presidio's e-mail recogniser with the packaged list of domain endings, so that it downloads none."""
    extract = require("tldextract", extra="corpus").TLDExtract(suffix_list_urls=(), cache_dir=None)

    class OfflineEmail(recogniser):  # type: ignore[misc]
        def validate_result(self, pattern_text: str) -> bool:
            return bool(extract(pattern_text).suffix)

    return OfflineEmail()
