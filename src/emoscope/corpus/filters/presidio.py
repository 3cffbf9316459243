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
from emoscope.corpus.filters.language_words import is_common
from emoscope.corpus.filters.spans import Kind, Span

# Numbers without a country code are read as numbers of these countries.
REGIONS = ("US", "GB", "IN", "CA", "AU", "NZ", "IE", "DE", "FR", "ES", "IT", "NL", "SE", "PL", "BR", "MX")

# Presidio imports these, if installed, for engines not used here: ten seconds and 300 MB in every process.
_ENGINE_PACKAGES = ("torch", "transformers", "stanza", "gliner")

_DIGIT = re.compile(r"\d")
_WORD_WITH_DOT = re.compile(r"[^\s.]+\.\S+")
_LONGEST_LINK = 200
_SCHEME = re.compile(
    r"(?:https?|ftp)://[^\s<>\"'()]+[^\s<>\"'().,!?;:]|www\.[\w-]+(?:\.[\w-]+)+(?:/[^\s<>\"'()]*)?", re.IGNORECASE
)
# Without a scheme, only endings that are not words: in chats "ok.so" and "yes.it is" lack a space, not a scheme.
_BARE_ENDINGS = re.compile(
    r"com|net|org|edu|gov|mil|info|biz|io|ai|dev|app|co|uk|de|fr|es|nl|se|pl|br|mx|au|nz|ca|ie|eu|jp|cn|ru|ch|at|xyz|"
    r"online|store|shop|site|blog|tech|cloud|gg|tv|ly|be|gl"
)
_WORDS_AS_ENDINGS = ("at", "be", "co")
_WORDS_ELSEWHERE = ("ca", "de", "es", "ie", "mx", "se")
_VERSION = re.compile(
    r"(?:\bv|\bver|\bversion|\brelease|\bbuild|\bfirmware|\bwindows|\bios|\bandroid|\bpatch)\.?\s*$", re.IGNORECASE
)
# A long number after one of these is somebody's order, not somebody's phone.
_OTHER_NUMBER = re.compile(
    r"(?:#|\b(?:order|ticket|tracking|track|ref|reference|invoice|booking|id|code|isbn|case|receipt|policy|flight|pin|otp|"
    r"serial|account|acct|score|pi)\b)(?:\s*(?:number|no|nr|num|id|is|was|:|#|\.))*\s*$",
    re.IGNORECASE,
)
_PHONE_WORD = re.compile(
    r"\b(?:call|text|txt|ring|phone|fone|ph|tel|telephone|cell|mobile|mob|whatsapp|wa|number|numbers|digits|contact|reach|"
    r"sms|dial|fax|no|num|nr)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?:\s.*)?|(?:19|20)\d{2}[./-]\d{1,2}(?:[./-]\d{1,2})?.*|(?:19|20)\d{2}-(?:19|20)\d{2}|\d{8}"
)
_AMOUNT = re.compile(r"(?:[$€£₹¥]\s*|\d[.,])$")
# Presidio knows neither these endings nor the cards that begin with 2, which Mastercard issues since 2017.
_BARE_DOMAIN = re.compile(
    r"(?<![\w@.-])[a-z0-9][a-z0-9-]*\.(?:biz|info|online|store)\b(?:/[^\s<>\"'()]*)?", re.IGNORECASE
)
_MASTERCARD_2 = re.compile(r"(?<![\d-])2[2-7]\d{2}(?P<mark>[ -]?)\d{4}(?P=mark)\d{4}(?P=mark)\d{4}(?![\d-])")


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
        return PresidioFinder, ()  # another process makes its own

    def find(self, text: str) -> list[Span]:
        """All spans, which may overlap."""
        spans: list[Span] = []
        if "@" in text:
            spans += _spans(self._email, text, Kind.EMAIL)
        if "." in text:
            spans += self._links(text)
        digits = len(_DIGIT.findall(text))
        if digits >= 4 or text.count(":") > 1:
            spans += self._addresses(text)
        if digits >= 7:
            spans += self._phones(text)
        if digits >= 12:
            spans += _spans(self._card, text, Kind.CARD)
            spans += [
                Span(match.start(), match.end(), Kind.CARD)
                for match in _MASTERCARD_2.finditer(text)
                if _has_check_digit(match.group())
            ]
        if digits >= 10:
            # Chats write IBANs in small letters too; upper case must not move any character.
            upper = text.upper()
            spans += _spans(self._iban, upper if len(upper) == len(text) else text, Kind.IBAN)
        return spans

    def _links(self, text: str) -> Iterator[Span]:
        for match in _SCHEME.finditer(text):
            yield Span(match.start(), match.end(), Kind.URL)
        for match in _BARE_DOMAIN.finditer(text):
            yield Span(match.start(), match.end(), Kind.URL)
        for span in self._bare_links(text):
            host, _, path = text[span.start : span.end].partition("/")
            labels = host.lower().rstrip(".").split(".")
            before, after = text[span.start - 1 : span.start], text[span.end : span.end + 1]
            if (
                before.isalnum()
                or after.isalnum()
                or before in ("@", ".", "_", "-")
                or len(labels) < 2
                or not all(labels)
            ):
                continue
            ending = labels[-1]
            if not path and ending != "com" and len(labels[-2]) < 2:
                continue  # a degree such as B.tech
            if path or (_BARE_ENDINGS.fullmatch(ending) and (len(labels) > 2 or not _may_be_words(labels[-2], ending))):
                yield span

    def _bare_links(self, text: str) -> Iterator[Span]:
        """Presidio's links, searched word by word: its pattern is very slow on long texts."""
        for word in _WORD_WITH_DOT.finditer(text):
            if len(word.group()) <= _LONGEST_LINK:
                for span in _spans(self._url, word.group(), Kind.URL):
                    yield Span(span.start + word.start(), span.end + word.start(), Kind.URL)

    def _addresses(self, text: str) -> Iterator[Span]:
        for span in _spans(self._ip, text, Kind.IP):
            if "." in text[span.start : span.end] and _VERSION.search(text[: span.start]):
                continue
            yield span

    def _phones(self, text: str) -> Iterator[Span]:
        for span in _spans(self._phone, text, Kind.PHONE):
            number = text[span.start : span.end]
            before = text[: span.start]
            if number.startswith("+"):
                yield span
                continue
            counting = re.search(r"(?:\b\d\b\W*){5}", number)  # 1 2 3 4 5
            if counting or _OTHER_NUMBER.search(before) or _AMOUNT.search(before) or _DATE.fullmatch(number):
                continue
            digits = len(_DIGIT.findall(number))
            # Short numbers are numbers of anything, unless the text speaks of calling.
            if digits >= 10 or (digits >= 8 and _PHONE_WORD.search(text)):
                yield span


def _may_be_words(name: str, ending: str) -> bool:
    """Whether `name.ending` could be two sentences without a space between them."""
    return ending in _WORDS_AS_ENDINGS or (ending in _WORDS_ELSEWHERE and (len(name) < 4 or is_common(name)))


def _has_check_digit(number: str) -> bool:
    """The Luhn check of card numbers."""
    digits = [int(digit) for digit in reversed(_DIGIT.findall(number))]
    return sum(digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits)) % 10 == 0


def _spans(recogniser: Any, text: str, kind: Kind) -> list[Span]:
    results = recogniser.analyze(text, recogniser.supported_entities)
    return [Span(one.start, one.end, kind) for one in results if one.score >= 0.3]


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
