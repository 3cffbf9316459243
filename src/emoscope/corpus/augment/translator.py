"""What translates, seen from outside: one direction is a function of many texts; an engine has several directions."""

from collections.abc import Sequence
from typing import Protocol

# Before a word that the engine could not translate and left as it was. Engines that cannot tell never write it.
UNTRANSLATED = "\ue000"

ENGLISH = "en"
_SHORT = {
    "ara": "ar",
    "cat": "ca",
    "ces": "cs",
    "dan": "da",
    "deu": "de",
    "ell": "el",
    "eng": "en",
    "epo": "eo",
    "est": "et",
    "eus": "eu",
    "fin": "fi",
    "fra": "fr",
    "glg": "gl",
    "heb": "he",
    "hin": "hi",
    "hun": "hu",
    "ind": "id",
    "isl": "is",
    "ita": "it",
    "jpn": "ja",
    "kor": "ko",
    "mkd": "mk",
    "nld": "nl",
    "pol": "pl",
    "por": "pt",
    "ron": "ro",
    "rus": "ru",
    "spa": "es",
    "swe": "sv",
    "tur": "tr",
    "ukr": "uk",
    "vie": "vi",
    "zho": "zh",
}
_LONG = {short: long for long, short in _SHORT.items()}


class Translator(Protocol):
    """One direction: as many texts come back as went in, in the same order."""

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """The texts in the other language."""
        ...


class Engine(Protocol):
    """Something that translates, such as Apertium."""

    @property
    def name(self) -> str:
        """What it is, with its version: texts from another version may differ."""
        ...

    def translator(self, source: str, target: str) -> Translator:
        """The direction from one language to another, or an error that says what is missing."""
        ...


def short_code(language: str) -> str:
    """The two-letter code of a language, where we know it.

    >>> short_code("spa"), short_code("es"), short_code("oci")
    ('es', 'es', 'oci')
    """
    return _SHORT.get(language, language)


def long_code(language: str) -> str:
    """The three-letter code of a language, where we know it.

    >>> long_code("es"), long_code("oci")
    ('spa', 'oci')
    """
    return _LONG.get(language, language)
