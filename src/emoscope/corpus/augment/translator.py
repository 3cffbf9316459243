"""The interface of machine translation engines, and language codes."""

from collections.abc import Callable, Sequence
from typing import Protocol

# Marks a word that the engine left untranslated; engines that cannot tell never write it.
UNTRANSLATED = "\ue000"

ENGLISH = "en"
_CODES = """
    ara-ar cat-ca ces-cs dan-da deu-de ell-el eng-en epo-eo est-et eus-eu fin-fi fra-fr glg-gl heb-he hin-hi hun-hu
    ind-id isl-is ita-it jpn-ja kor-ko mkd-mk nld-nl pol-pl por-pt ron-ro rus-ru spa-es swe-sv tur-tr ukr-uk vie-vi
    zho-zh
"""
_TWO_LETTERS = dict(pair.split("-") for pair in _CODES.split())
_THREE_LETTERS = {short: long for long, short in _TWO_LETTERS.items()}

# Translates texts in one direction: the same number of texts, in the same order.
Translator = Callable[[Sequence[str]], list[str]]


class Engine(Protocol):
    """A machine translation engine, such as Apertium."""

    @property
    def name(self) -> str:
        """The engine's name and version, since versions may translate differently."""

    def translator(self, source: str, target: str) -> Translator:
        """A translator from one language to another; raises an error that says what is missing."""


def short_code(language: str) -> str:
    """The two-letter code of a language, if known.

    >>> short_code("spa"), short_code("es"), short_code("oci")
    ('es', 'es', 'oci')
    """
    return _TWO_LETTERS.get(language, language)


def long_code(language: str) -> str:
    """The three-letter code of a language, if known.

    >>> long_code("es"), long_code("oci")
    ('spa', 'oci')
    """
    return _THREE_LETTERS.get(language, language)
