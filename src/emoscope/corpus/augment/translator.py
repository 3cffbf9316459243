"""What an engine of machine translation looks like to us, and codes of languages."""

from collections.abc import Callable, Sequence
from typing import Protocol

# Put before a word that the engine left untranslated. Engines that cannot tell never write it.
UNTRANSLATED = "\ue000"

ENGLISH = "en"
_CODES = """
    ara-ar cat-ca ces-cs dan-da deu-de ell-el eng-en epo-eo est-et eus-eu fin-fi fra-fr glg-gl heb-he hin-hi hun-hu
    ind-id isl-is ita-it jpn-ja kor-ko mkd-mk nld-nl pol-pl por-pt ron-ro rus-ru spa-es swe-sv tur-tr ukr-uk vie-vi
    zho-zh
"""
_TWO_LETTERS = dict(pair.split("-") for pair in _CODES.split())
_THREE_LETTERS = {short: long for long, short in _TWO_LETTERS.items()}

# One direction: as many texts come back as went in, in the same order.
Translator = Callable[[Sequence[str]], list[str]]


class Engine(Protocol):
    """Something that translates, such as Apertium."""

    @property
    def name(self) -> str:
        """The engine with its version: translations of another version may differ."""

    def translator(self, source: str, target: str) -> Translator:
        """The direction from one language to another, or an error that says what is missing."""


def short_code(language: str) -> str:
    """The two-letter code of a language, if it is known.

    >>> short_code("spa"), short_code("es"), short_code("oci")
    ('es', 'es', 'oci')
    """
    return _TWO_LETTERS.get(language, language)


def long_code(language: str) -> str:
    """The three-letter code of a language, if it is known.

    >>> long_code("es"), long_code("oci")
    ('spa', 'oci')
    """
    return _THREE_LETTERS.get(language, language)
