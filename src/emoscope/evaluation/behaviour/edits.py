"""Edits that do not change the emotion of a text; an edit that does not apply returns nothing."""

import re
import string
from collections.abc import Callable

_LONG_FORMS = {
    "i'm": "I am",
    "i've": "I have",
    "i'll": "I will",
    "can't": "cannot",
    "don't": "do not",
    "didn't": "did not",
    "hasn't": "has not",
    "we're": "we are",
    "you're": "you are",
    "you've": "you have",
    "they've": "they have",
    "it's": "it is",
    "that's": "that is",
    "there's": "there is",
}
_CONTRACTION = re.compile("|".join(rf"\b{word}\b" for word in _LONG_FORMS), re.IGNORECASE)
_DRAWN_OUT = {"so": "sooo", "really": "reallyyy", "very": "veryyy", "please": "pleaseee", "wow": "wowww"}
_STRETCHED = re.compile(r"\b(so|really|very|please|wow)\b", re.IGNORECASE)


def typos(text: str) -> list[str]:
    """Two letters of the longest word swapped, and one of them missing.

    >>> typos("I am furious")
    ['I am fruious', 'I am frious']
    """
    word = max(re.findall(r"[A-Za-z]+", text), key=len, default="")
    if len(word) < 5:
        return []
    swapped = word[0] + word[2] + word[1] + word[3:]
    return [text.replace(word, wrong, 1) for wrong in (swapped, word[0] + word[2:])]


def letter_case(text: str) -> list[str]:
    """All small, and every word with a capital.

    >>> letter_case("It's fine")
    ["it's fine", "It's Fine"]
    """
    return [text.lower(), string.capwords(text)]


def punctuation(text: str) -> list[str]:
    """Without the final mark or with one, with a space before it, and without commas.

    >>> punctuation("Well, stop!")
    ['Well, stop', 'Well, stop !', 'Well stop!']
    """
    bare = text.rstrip(".!?")
    edited = [bare, f"{bare} {text[len(bare)]}"] if bare != text else [f"{text}."]
    return edited + ([text.replace(",", "")] if "," in text else [])


def contractions(text: str) -> list[str]:
    """The long forms, and the short ones without their apostrophe.

    >>> contractions("I'm sure it's fine")
    ['I am sure it is fine', 'Im sure its fine']
    """
    if not _CONTRACTION.search(text):
        return []

    def long_form(match: re.Match[str]) -> str:
        form = _LONG_FORMS[match[0].lower()]
        return form[0].upper() + form[1:] if match[0][0].isupper() else form

    return [_CONTRACTION.sub(long_form, text), _CONTRACTION.sub(lambda match: match[0].replace("'", ""), text)]


def repeated_letters(text: str) -> list[str]:
    """Words such as "so" drawn out.

    >>> repeated_letters("So sad")
    ['Sooo sad']
    """

    def drawn_out(match: re.Match[str]) -> str:
        return match[0][0] + _DRAWN_OUT[match[0].lower()][1:]

    return [_STRETCHED.sub(drawn_out, text)] if _STRETCHED.search(text) else []


EDITS: dict[str, Callable[[str], list[str]]] = {
    "typos": typos,
    "case": letter_case,
    "punctuation": punctuation,
    "contractions": contractions,
    "repeated letters": repeated_letters,
}
