"""Machine translation engines: their names, their interface, and language codes."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Protocol

from emoscope.core.errors import EmoscopeError

EngineName = Literal["apertium", "argos", "marian"]
# The default pivot languages.
DEFAULT_VIA: Mapping[EngineName, str] = MappingProxyType(
    {"apertium": "es,ca", "argos": "de,fr,it", "marian": "de,fr,it"}
)

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


def open_engine(name: EngineName, model: str | None = None, beam_size: int | None = None) -> Engine:
    """Open the named engine; only Marian takes a `model` and a `beam_size`."""
    if name == "marian" and model is None:
        raise EmoscopeError("the engine marian needs a model (--model), such as Helsinki-NLP/opus-mt-{source}-{target}")
    if name != "marian" and model is not None:
        raise EmoscopeError(f"the engine {name} takes no model")
    if beam_size is not None and name != "marian":
        raise EmoscopeError(f"the engine {name} takes no beam size")
    if name == "apertium":
        from emoscope.corpus.augment.apertium import Apertium

        return Apertium()
    if name == "argos":
        from emoscope.corpus.augment.argos import Argos

        return Argos()
    from emoscope.corpus.augment.marian import BEAM_SIZE, Marian

    return Marian(str(model), beam_size=beam_size or BEAM_SIZE)


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
