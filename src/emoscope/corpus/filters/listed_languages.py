"""Lists of everyday words in other languages, for short chat texts that lingua gets wrong."""

import re
from functools import cache

from emoscope.core.language_words import WordCounts, english_words, is_sound, word_languages, words_in
from emoscope.corpus.filters.shipped import listed_words, read_toml

_MOST = 0.5  # of a text's words
_WORDS_OF_TURN = 3  # fewer may be a name, an exclamation or a quotation
_SURE_OF_TURN = 0.4  # for a turn without a listed word of its language
_BORROWED = re.compile(
    r"c'est la vie|hasta la vista(?: baby)?|je ne sais quoi|mi casa es su casa|(?:que|qué) ser[aá] ser[aá]"
    r"|veni vidi vici|viva la vida|la la la|la vie en rose|et cetera et cetera",
)  # phrases that people quote in English
_SHORT = 3  # letters; beside accented words, short English words are chance
_UNENGLISH = re.compile("[ẹọṣàèìòùáéíóúâêîôûäöüßçñãõłśżźćńąęğışőűřšžčěåøæ]")
_NEVER_ENGLISH = re.compile("[\u0100-\u024f\u1e00-\u1eff]")  # not even in borrowed words, as é and ï are


@cache
def _other_lists() -> dict[str, frozenset[str]]:
    return {code: frozenset(words.split()) for code, words in read_toml("other_words.toml").items()}


def listed_language(text: str, counts: WordCounts) -> str | None:
    """The language whose everyday words make up most of a text, if hardly any word is only English.

    It needs two listed words that are not English, and more of them than of words that only English has. A text of
    listed words alone is enough if it has three or more, not all of them English, or one longer word that is not.

    >>> from emoscope.core.language_words import count_words
    >>> text = "non lo so, come stai"
    >>> listed_language(text, count_words(text)), listed_language("come in, so nice", count_words("come in, so nice"))
    ('it', None)
    """
    words = set(words_in(text))
    if not words or counts.hindi > 1:
        return None
    english = {word for word in words if word_languages().get(word) == "en"}
    best, share = None, 0.0
    for code, listed in _other_lists().items():
        own = words & listed
        only_own = {word for word in own if word not in word_languages()}
        only_english = english - listed
        strange = {word for word in words if _UNENGLISH.search(word)}
        enough = len(only_own) >= 2 or (only_own and len(own) >= 2 and not only_english) or (own and strange & only_own)
        if len({word for word in words if word_languages().get(word) == "es"} - listed) > 1 or counts.spanish > len(
            own
        ):
            continue
        # "non lo so", "grazie": each word may be chance or a loan, not all of them.
        whole = len(words) >= _WORDS_OF_TURN and words <= listed and not words <= _english()
        whole = whole or (len(words) == 1 and words == only_own - _english() and len(max(words)) > _SHORT)
        if whole and best is None:
            best = code
        if enough and len(only_own) > 2 * len(only_english) and len(own) / len(words) > max(share, _MOST):
            best, share = code, len(own) / len(words)
    return best


def is_hardly_english(text: str) -> bool:
    """Whether a text of four words or more has too few English words and names to be English, or one of three has none.

    >>> is_hardly_english("sto andando in palestra"), is_hardly_english("Rahul and Priya went to palestra")
    (True, False)
    """
    words, known = _words_known(text)
    if len(words) == _WORDS_OF_TURN:
        return not known
    if "the" in words:
        return False
    return len(words) >= 4 and len(known - _others()) * 4 <= len(words) and len(known) * 2 <= len(words)


def sure_of_few(text: str) -> float | None:
    """The likelihood lingua must reach for a short text without any word that only English has; None for other texts.

    >>> sure_of_few("figurati, nessun problema"), sure_of_few("chiudi la porta"), sure_of_few("come on, so nice")
    (0.2, 0.4, None)
    """
    words, known = _words_known(text)
    strange = any(map(_NEVER_ENGLISH.search, words))
    if strange:
        known = {word for word in known if len(word) > 2}
    if (len(words) < 2 and not strange) or known == words or not known <= _others():
        return None
    return 0.4 if known else 0.2


def may_be_foreign(text: str) -> bool:
    """Whether a turn has at least three words, at most half of which only English has: a cheap first test."""
    said = words_in(text)
    words = set(said)
    if _BORROWED.fullmatch(" ".join(said)):
        return False
    english = {word for word in words - _others() if word_languages().get(word) == "en"}
    return len(words) >= _WORDS_OF_TURN and len(english) * 2 <= len(words)


def is_clearly_foreign(text: str, code: str, likelihood: float) -> bool:
    """Whether a turn, to which lingua gives `likelihood` of being in language `code`, surely is not English.

    Misspelt English, such as "so suddnly", looks foreign to lingua, so every English word counts against it.

    >>> is_clearly_foreign("non ci posso credere", "it", 0.4), is_clearly_foreign("y so suddnly", "sv", 0.8)
    (True, False)
    """
    words, languages = set(words_in(text)), word_languages()
    own = {word for word in words if languages.get(word) == code} | (words & _other_lists().get(code, frozenset()))
    vocabulary = listed_words("vocabulary.txt")
    english = {word for word in words - own if word in vocabulary or languages.get(word) == "en"}
    accented = {word for word in words if _UNENGLISH.search(word)}
    if accented:
        english = {word for word in english if len(word) > _SHORT}
    only_own = accented | {word for word in own - vocabulary if languages.get(word) in (None, code)}
    if len(only_own) >= 2:
        return len(english) * 4 <= len(words)
    return not english and (bool(only_own) or likelihood >= _SURE_OF_TURN)


def _words_known(text: str) -> tuple[set[str], set[str]]:
    """The different words of a text, and those that are English, names or sounds."""
    words = set(words_in(text))
    return words, {word for word in words if word in _english() or is_sound(word) or word_languages().get(word) == ""}


@cache
def _others() -> frozenset[str]:
    return frozenset().union(*_other_lists().values())


@cache
def _english() -> frozenset[str]:
    names = listed_words("names.txt", "names_more.txt", "names_cultures.txt", "names_east_asia.txt", "proper_nouns.txt")
    return listed_words("vocabulary.txt") | english_words() | names
