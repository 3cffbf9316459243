"""Word lists that tell English, Spanish and romanised Hindi apart within a sentence, where lingua cannot.

lingua has no model of Hindi in Latin letters, and needs more than a few words to name a language. A word in two lists,
or one that people write in any language, counts for none.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from emoscope.corpus.filters.shipped import listed_words, read_toml

_FILES = {"en": ("english.txt", "chat.txt"), "es": ("spanish.txt",), "hi": ("hindi.txt",)}
_ANYWHERE = "anywhere.txt"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LONG_RUN = re.compile(r"([^\W\d_])\1{2,}")
_LAUGH = re.compile(
    r"(?:[bmw]?[ah]*(?:ha|ah){2,}h*a*|(?:he|hi|ja|je|xa){3,}j?h?|l+o+l+(?:o+l+)*|x+d+|k{2,}|h*m{2,}|z{2,})"
)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How many different words of a text are of one language only, unknown, or used in any language."""

    english: int = 0
    spanish: int = 0
    hindi: int = 0
    unknown: int = 0
    anywhere: int = 0

    @property
    def telling(self) -> int:
        """The words that may tell the language."""
        return self.english + self.spanish + self.hindi + self.unknown


def count_words(text: str) -> WordCounts:
    """Count the words of a text by language.

    >>> count_words("yaar this is soooo boring, kya kare lol")
    WordCounts(english=4, spanish=0, hindi=3, unknown=0, anywhere=1)
    """
    known = _languages()
    counts: Counter[str] = Counter()
    for word in set(words_in(text)):  # "yaar" twice is still one borrowed word
        language = known.get(word)
        if language is None:
            language = known.get(_LONG_RUN.sub(r"\1\1", word)) or known.get(_LONG_RUN.sub(r"\1", word))
        if language is None:
            language = "" if _LAUGH.fullmatch(word) else "?"
        counts[language] += 1
    return WordCounts(counts["en"], counts["es"], counts["hi"], counts["?"], counts[""])


def words_in(text: str) -> list[str]:
    """The words of a text in lower case, numbers left out.

    >>> words_in("Don’t call ME at 5!")
    ["don't", 'call', 'me', 'at']
    """
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


@cache
def _languages() -> dict[str, str]:
    """The language of each listed word, or "" for words that do not tell."""
    languages: dict[str, str] = {}
    for language, names in _FILES.items():
        for word in listed_words(*names):
            languages[word] = "" if word in languages else language
    return languages | dict.fromkeys(listed_words(_ANYWHERE), "")


@cache
def _other_lists() -> dict[str, frozenset[str]]:
    return {code: frozenset(words.split()) for code, words in read_toml("other_words.toml").items()}


def listed_language(text: str, counts: WordCounts) -> str | None:
    """The language whose everyday words are most of a text's, where hardly a word can only be English.

    Two words of the list that are not English are needed, and more of them than of words that only English has.

    >>> text = "non lo so, come stai"
    >>> listed_language(text, count_words(text)), listed_language("come in, so nice", count_words("come in, so nice"))
    ('it', None)
    """
    words = set(words_in(text))
    if not words or counts.hindi > 1:
        return None
    english = {word for word in words if _languages().get(word) == "en"}
    best, share = None, 0.0
    for code, listed in _other_lists().items():
        own = words & listed
        only_own = {word for word in own if word not in _languages()}
        only_english = english - listed
        strange = {word for word in words if _UNENGLISH.search(word)}
        enough = len(only_own) >= 2 or (only_own and len(own) >= 2 and not only_english) or (own and strange & only_own)
        if len({word for word in words if _languages().get(word) == "es"} - listed) > 1 or counts.spanish > len(own):
            continue
        if enough and len(only_own) > 2 * len(only_english) and len(own) / len(words) > max(share, _MOST):
            best, share = code, len(own) / len(words)
    return best


def is_hardly_english(text: str) -> bool:
    """Whether so few of at least four words are English, or names of people, that the text is in another language.

    >>> is_hardly_english("sto andando in palestra"), is_hardly_english("Rahul and Priya went to palestra")
    (True, False)
    """
    words = set(words_in(text))
    others = frozenset().union(*_other_lists().values())
    known = {word for word in words if word in _english() or _LAUGH.fullmatch(word) or _LONG_RUN.search(word)}
    return len(words) >= 4 and len(known - others) * 4 <= len(words) and len(known) * 2 <= len(words)


@cache
def _english() -> frozenset[str]:
    names = listed_words("names.txt", "names_more.txt", "names_cultures.txt", "proper_nouns.txt")
    return listed_words("vocabulary.txt", *_FILES["en"], _ANYWHERE) | names


_MOST = 0.5  # of a text's words
_UNENGLISH = re.compile("[ẹọṣàèìòùáéíóúâêîôûäöüßçñãõłśżźćńąęğışőűřšžčě]")


def is_common(word: str) -> bool:
    """Whether a word is in one of the lists.

    >>> is_common("sad"), is_common("olufemi")
    (True, False)
    """
    return word in _languages()
