"""Chat spelling normalised for matching, so that one pattern finds every spelling: "k1lll urself", "kill yourself".

The result is not for people to read: punctuation becomes commas, and short forms become long ones.
"""

import re
import unicodedata
from collections.abc import Container

from emoscope.core.language_words import is_common
from emoscope.core.word_lists import read_toml

_LEET = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "@": "a", "$": "s", "!": "i"}
)
_TOKEN = re.compile(r"[a-z0-9@$!*']*[a-z0-9@$*']|[^\s\w]+", re.ASCII)
_MARKS = re.compile(r"[^a-z0-9@$!*' ]+", re.ASCII)
_DISGUISED = re.compile(r"(?=.*[a-z])(?=.*[0-9@$!])", re.ASCII)
_STARRED = re.compile(r"[a-z]+\*[a-z]+", re.ASCII)
_VOWELS = "uiaeo"
_RUN = re.compile(r"([a-z])\1{2,}")
# Letters with a space or a mark between them: s.e.x, k i l l. Two letters are an abbreviation.
_SPELLED = re.compile(r"(?<![a-z0-9'])[a-z0-9](?:(?: |[._*-] ?)[a-z0-9](?![a-z0-9'])){2,}", re.ASCII)
_LETTERS = re.compile(r"[a-z0-9]", re.ASCII)
# Letters that do not decompose into one of ASCII and a mark: as separators they would leave "bj" of Bjørn.
_LETTERS_OF_ASCII = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "ß": "ss", "ı": "i"})
_LONG_FORMS: dict[str, str] = read_toml("long_forms.toml")
_ENDINGS = (("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would"))


def plain_words(text: str, known: Container[str] = ()) -> str:
    """A text as lower-case words and commas; disguised spellings of `known` words are recognised.

    >>> plain_words("I'm gonna k!lllll u!!", {"kill"})
    'i am going to kill you , '
    >>> plain_words("S E X? im 25 and soooo h@ppy...", {"sex"})
    'sex , i am 25 and so happy , '
    """
    folded = text.lower()
    if not text.isascii():
        split = unicodedata.normalize("NFKD", text.replace("’", "'").lower().translate(_LETTERS_OF_ASCII))
        folded = "".join(mark for mark in split if not unicodedata.combining(mark)).encode("ascii", "replace").decode()
    unspelled = _SPELLED.sub(lambda match: _joined(match.group(), known), folded)
    words = [word for token in _TOKEN.findall(unspelled) for word in _plain(token, known)]
    joined = " ".join(words)
    return f"{joined} " if joined.endswith(",") else joined


def _joined(spelled: str, known: Container[str]) -> str:
    """Join spelled-out letters into a word; a leading "i" or "a" may be a separate word."""
    letters = "".join(_LETTERS.findall(spelled))
    if letters[0] in "ia" and letters not in known and _meant(letters[1:], known) in known:
        return f"{letters[0]} {letters[1:]}"
    return letters if _meant(letters, known) in known else spelled


def _plain(token: str, known: Container[str]) -> list[str]:
    if token.isalpha() and token not in _LONG_FORMS and not _RUN.search(token):  # most tokens need no change
        return [token]
    bare = token.strip("!'@$*") if not token.isdigit() else token
    if not bare or _MARKS.fullmatch(token):
        return [","]
    marked = [","] if token.endswith("!") else []
    if bare in _LONG_FORMS:
        return [*_LONG_FORMS[bare].split(), *marked]
    if bare.endswith("n't"):
        return [{"ca": "can", "wo": "will"}.get(bare[:-3], bare[:-3]), "not", *marked]
    for ending, whole in _ENDINGS:
        if bare.endswith(ending):
            return [*_LONG_FORMS.get(bare[: -len(ending)], bare[: -len(ending)]).split(), whole, *marked]
    word = _meant(bare.replace("'", ""), known)
    return [*_LONG_FORMS.get(word, word).split(), *marked]


def _meant(word: str, known: Container[str]) -> str:
    """The intended word, with digits read as letters, a star as a vowel, and repeated letters shortened."""
    if _STARRED.fullmatch(word):
        return next((said for vowel in _VOWELS if (said := word.replace("*", vowel)) in known), word)
    if not _RUN.search(word) and not _DISGUISED.match(word):
        return word
    spellings = [word]
    if _DISGUISED.match(word):
        spellings += [one.translate(_LEET) for one in (word, word.replace("1", "l"), word.replace("!", "l"))]
    for spelling in spellings:
        for candidate in (spelling, _RUN.sub(r"\1\1", spelling), _RUN.sub(r"\1", spelling)):
            if candidate in known or is_common(candidate):
                return candidate
    return _RUN.sub(r"\1", word)
