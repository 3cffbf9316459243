"""Word lists that distinguish English, Spanish and romanised Hindi within a sentence, where lingua cannot.

lingua has no model of Hindi in Latin letters, and needs more than a few words to identify a language. A word in two
lists, or one used in any language, counts for none.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from emoscope.core.word_lists import listed_words

_FILES = {"en": ("english.txt", "chat.txt"), "es": ("spanish.txt",), "hi": ("hindi.txt",)}
_ANYWHERE = "anywhere.txt"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LONG_RUN = re.compile(r"([^\W\d_])\1{2,}")
_LAUGH = re.compile(
    r"(?:[bmw]?[ah]*(?:ha|ah){2,}h*a*|(?:he|hi|ja|je|xa){3,}j?h?|l+o+l+(?:o+l+)*|x+d+|k{2,}|h*m{2,}|z{2,})"
)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How many distinct words of a text belong to one language only, are unknown, or are used in any language."""

    english: int = 0
    spanish: int = 0
    hindi: int = 0
    unknown: int = 0
    anywhere: int = 0

    @property
    def telling(self) -> int:
        """How many words can indicate the language."""
        return self.english + self.spanish + self.hindi + self.unknown


def count_words(text: str) -> WordCounts:
    """Count the words of a text by language.

    >>> count_words("yaar this is soooo boring, kya kare lol")
    WordCounts(english=4, spanish=0, hindi=3, unknown=0, anywhere=1)
    """
    languages = word_languages()
    counts: Counter[str] = Counter()
    for word in set(words_in(text)):  # "yaar" twice is still one loanword
        language = languages.get(word)
        if language is None:
            language = languages.get(_LONG_RUN.sub(r"\1\1", word)) or languages.get(_LONG_RUN.sub(r"\1", word))
        if language is None:
            language = "" if _LAUGH.fullmatch(word) else "?"
        counts[language] += 1
    return WordCounts(counts["en"], counts["es"], counts["hi"], counts["?"], counts[""])


def words_in(text: str) -> list[str]:
    """The words of a text in lower case, without numbers.

    >>> words_in("Don’t call ME at 5!")
    ["don't", 'call', 'me', 'at']
    """
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


@cache
def word_languages() -> dict[str, str]:
    """The language of each listed word, or "" if it indicates none."""
    languages: dict[str, str] = {}
    for language, names in _FILES.items():
        for word in listed_words(*names):
            languages[word] = "" if word in languages else language
    return languages | dict.fromkeys(listed_words(_ANYWHERE), "")


def is_common(word: str) -> bool:
    """Whether a word is in one of the lists.

    >>> is_common("sad"), is_common("olufemi")
    (True, False)
    """
    return word in word_languages()


def english_words() -> frozenset[str]:
    """The words of the English lists, and those used in any language.

    >>> "sad" in english_words(), "lol" in english_words()
    (True, True)
    """
    return listed_words(*_FILES["en"], _ANYWHERE)


def is_sound(word: str) -> bool:
    """Whether a word is laughter or elongated.

    >>> is_sound("hahaha"), is_sound("sooo"), is_sound("so")
    (True, True, False)
    """
    return bool(_LAUGH.fullmatch(word) or _LONG_RUN.search(word))
