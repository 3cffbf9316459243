"""Whether a message is English, judged by its script and its common words.

Made for short chat messages: it takes a few microseconds and no model, and does not identify other languages. When in
doubt a message is English; names, slang, typos and emoji do not count against it.
"""

import re
from functools import cache
from typing import Literal

from emoscope.core.word_lists import listed_words

Language = Literal["english", "mixed", "other"]

_MARKS = str.maketrans(dict.fromkeys('.,;:!?()"*…\n', " "))
_NOT_PROSE = re.compile(r"(?:https?://|www\.)\S+|<\w+>|[@#]\w+|\S+@\S+|\[[^\]]*\]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00aa-\u024f\u1e00-\u1eff\u02b0-\u036f\u1d00-\u1dbf]+")
_LONG_RUN = re.compile(r"([^\W\d_])\1{2,}")
_MAX_CHARACTERS = 1_000  # enough to identify the language
# Letters of another script that make a Latin text mixed; fewer are a face such as (ノ ゜ノ) or a loanword.
_LETTERS_BESIDE = 4
# This many distinct words without a common English one are not English.
_STRANGE = 6
_EMOTIONS = "other_emotions.txt"


def language_of(text: str) -> Language:
    """Classify a message as English, mixed or another language.

    >>> texts = ("omg Ravi ur sooo funny 😂", "je ne sais pas", "yaar this is so boring kya kare")
    >>> [language_of(text) for text in texts]
    ['english', 'other', 'mixed']
    """
    english, foreign = common_words()
    if text.isascii():
        quick = set(text.lower().translate(_MARKS).split())
        if foreign.isdisjoint(quick) and (len(quick) < _STRANGE or not english.isdisjoint(quick)):
            return "english"
    text = _NOT_PROSE.sub(" ", text[:_MAX_CHARACTERS]).lower().replace("’", "'")
    script = "".join(_OTHER_SCRIPT.findall(text))
    words = {_LONG_RUN.sub(r"\1\1", word) for word in _WORD.findall(_OTHER_SCRIPT.sub(" ", text))}
    known = len(words & english)
    strange = len(words & foreign) + len(words & _telling())
    unknown = len(words - english - foreign - listed_words("anywhere.txt"))
    accented = sum(not word.isascii() for word in words)
    other_script = len(script) >= 2 and len(script) > sum(map(len, words))
    if (
        (other_script and known < 3)
        or (strange >= 2 and strange > 2 * known)
        or (accented and known <= 1 and accented + strange >= 2)
        or (not known and strange + unknown >= (3 if strange else _STRANGE))
    ):
        return "other"
    mixed = other_script or len(script) >= _LETTERS_BESIDE or (strange >= 2 and 3 * strange >= known)
    return "mixed" if mixed else "english"


@cache
def common_words() -> tuple[frozenset[str], frozenset[str]]:
    """Common English words, and common words of other languages that are not also English."""
    english = listed_words("english.txt", "chat.txt")
    others = listed_words("spanish.txt", "hindi.txt", "other_languages.txt", _EMOTIONS)
    return english, others - english - listed_words("anywhere.txt")


def _telling() -> frozenset[str]:
    """Words of other languages that count twice: one alone tells that a short message is not English."""
    return listed_words(_EMOTIONS)
