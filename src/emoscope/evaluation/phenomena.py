"""Wording that misleads models, recognised by the word lists in phenomena.toml.

The lists are incomplete and sometimes wrong: use them to score parts of the data, not to label single texts.
"""

import re
import unicodedata
from importlib.resources import files

from emoscope.core.text import words
from emoscope.core.word_lists import read_toml

_LISTS = read_toml("phenomena.toml", files("emoscope.evaluation"))
_NEGATIONS, _DIALECT, _OTHER_LANGUAGES = (
    frozenset(_LISTS[name].split()) for name in ("negations", "dialect", "other_languages")
)
_IRONY, _DIALECT_PHRASES = (
    re.compile(_LISTS[name], re.IGNORECASE | re.VERBOSE) for name in ("irony", "dialect_phrases")
)


def has_negation(text: str) -> bool:
    """Whether something is negated.

    >>> has_negation("I don't like it"), has_negation("I noted it")
    (True, False)
    """
    return any(word in _NEGATIONS or word.endswith("n't") for word in words(text))


def has_irony(text: str) -> bool:
    """Whether there is a mark of irony: a turn of phrase, rolling eyes, `/s`.

    >>> has_irony("oh great, another flat tyre"), has_irony("that is great")
    (True, False)
    """
    return _IRONY.search(text) is not None


def has_dialect(text: str) -> bool:
    """Whether there are words of a regional English.

    >>> has_dialect("I'm well chuffed"), has_dialect("I am very pleased")
    (True, False)
    """
    return _DIALECT_PHRASES.search(text) is not None or any(word in _DIALECT for word in words(text))


def is_code_mixed(text: str) -> bool:
    """Whether there are words of Hindi, Spanish or French, or letters of another script.

    >>> is_code_mixed("mujhe bahut gussa aa raha hai"), is_code_mixed("my house is your house")
    (True, False)
    """
    return any(word in _OTHER_LANGUAGES for word in words(text)) or any(
        character.isalpha() and not unicodedata.name(character, "LATIN").startswith(("LATIN", "MODIFIER", "FEMININE"))
        for character in text
        if not character.isascii()
    )
