"""Tokenisers by name, so that a saved extractor can record which one it used."""

import re
from collections.abc import Callable, Mapping

from emoscope.core.mojibake import repair_mojibake

# Emoticons whole, words with their apostrophes, and every other sign alone: an emoji is one token.
_CHAT = re.compile(r"[:;=][-'^]?[)(\]\[dpo/\\|3*]+(?!\w)|<3+|[^\W_]+(?:'[^\W_]+)*|[^\s\ufe0e\ufe0f\u200d]")
_LONG_RUN = re.compile(r"([^\W\d_])\1{2,}")
_IEST = re.compile(r"[#a-zA-Z0-9_=]+|[^ ]")


def lower_case(text: str) -> str:
    """Lower case with straight apostrophes; a longer run of a letter becomes two, and mojibake is repaired.

    >>> lower_case("Sooo HAPPY, don’t")
    "soo happy, don't"
    """
    text = text.lower()
    if not text.isascii():
        text = repair_mojibake(text).replace("’", "'")
    return _LONG_RUN.sub(r"\1\1", text)


def chat_tokens(text: str) -> list[str]:
    """Lower-case words, emoticons and single marks; stretched words shortened, emoji as they are.

    >>> chat_tokens("Sooo HAPPY :) don’t 😂😂")
    ['soo', 'happy', ':)', "don't", '😂', '😂']
    """
    return _CHAT.findall(lower_case(text))


def iest_tokens(text: str) -> list[str]:
    """The IEST baseline's tokens: its pattern, then without marks and without anything that contains a #.

    The masked word contains a # too, so the classifier does not see it.

    >>> iest_tokens("I'm [#TRIGGERWORD#] that @USERNAME left :( #alone")
    ['I', 'm', 'that', 'USERNAME', 'left']
    """
    return [token for token in _IEST.findall(text) if "#" not in token and any(map(str.isalnum, token))]


TOKENISERS: Mapping[str, Callable[[str], list[str]]] = {"chat": chat_tokens, "iest": iest_tokens}
