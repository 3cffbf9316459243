"""Normalise chat text: name emoji, repair encodings, shorten elongated words and repeated marks.

Negations, numbers and word order are kept, and changes are counted.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from emoscope.core.emoticons import (
    EMOJI_PATTERN,
    EMOTICON_STARTS,
    emoji_words,
    emoticon_pattern,
    emoticon_words,
    may_hold_emoji,
)
from emoscope.core.mojibake import may_be_broken, repair_and_count, repair_mojibake

USER = "@user"
URL = "<url>"
TRIGGER = "[#TRIGGERWORD#]"
# One character for ".." and "...", as phones write it: trailing off is not a full stop, so it must not become ".".
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class TextCounts:
    """What a text contained and what was changed in it.

    `users`, `urls` and `triggers` are those in the normalised text; `shouted` counts all-capital words of two or more
    letters; the rest count changes: emoji, runs of letters, broken characters and so on.
    """

    emoji: int = 0
    emoticons: int = 0
    elongations: int = 0
    repeated_punctuation: int = 0
    users: int = 0
    urls: int = 0
    triggers: int = 0
    repaired: int = 0
    shouted: int = 0


@dataclass(frozen=True, slots=True)
class Normalised:
    """A normalised text and its counts."""

    text: str
    counts: TextCounts


def normalise(text: str, *, lowercase: bool = False) -> Normalised:
    """Normalise a chat text and count what was changed.

    Emoji and emoticons become words, user names `@user`, links `<url>`, and both IEST masks `[#TRIGGERWORD#]`. Runs of
    a letter are cut to two, runs of a mark to one. Broken encodings are repaired, and white space, quotes and hyphens
    become ASCII. Normalising is idempotent.

    >>> normalise("Sooo happy!!! :) @bob").text
    'Soo happy! smiling face @user'
    >>> normalise("Sooo happy!!! :) @bob").counts.elongations
    1
    """
    tally = _Tally(count_shouts=True)
    plain = _rewrite(text, lowercase, tally)
    users = len(_MENTION.findall(plain)) if "@" in plain else 0
    counts = TextCounts(users=users, urls=plain.count(URL), triggers=plain.count(TRIGGER), **tally.counts)
    return Normalised(plain, counts)


def normalise_text(text: str, *, lowercase: bool = False) -> str:
    """The text of `normalise`, without the counts.

    >>> normalise_text("NOOO way… http://t.co/x", lowercase=True)
    'noo way… <url>'
    """
    if text.isascii():
        plain = " ".join(text.split())
        if _is_plain(plain):
            if not lowercase:
                return plain
            plain = plain.lower()
            if _is_plain(plain):
                return plain
    return _rewrite(text, lowercase, _Tally())


def masked(text: str) -> bool:
    """Whether a text has a masked word, as in IEST.

    >>> masked("I am [#TRIGGERWORD#] today"), masked("I am #1")
    (True, False)
    """
    return "[#" in text and any(token.lastgroup == "trigger" for token in _tokens(text))


def emoticons_in(text: str) -> list[str]:
    """Every emoji and emoticon in order, as written.

    >>> emoticons_in("haha 😂👍🏽 :-)) at 8:0")
    ['😂', '👍🏽', ':-))']
    """
    text = repair_mojibake(text)
    matches = [token for token in _tokens(text) if token.lastgroup == "emoticon"]
    if _has_emoji(text):
        matches += [emoji for emoji in EMOJI_PATTERN.finditer(text) if emoji_words(emoji.group())]
        matches.sort(key=re.Match.start)
    return [match.group() for match in matches]


def strip_emoticons(text: str) -> str:
    """The text without emoji and emoticons, with white space collapsed.

    >>> strip_emoticons("haha 😂 yes :P"), strip_emoticons(":) 😂")
    ('haha yes', '')
    """
    while True:
        before = text
        text = _strip(repair_mojibake(text), lambda token: " " if token.lastgroup == "emoticon" else token.group())
        # Repeat, because removing one may expose another: ":P" in "a😂:P".
        if text == before:
            return text


def words(text: str) -> list[str]:
    """The words and numbers in lower case, without punctuation, emoticons, links, user names or masked words.

    >>> words("I don’t know :) it's 3.5 @bob")
    ['i', "don't", 'know', "it's", '3.5']
    """
    text = _strip(repair_mojibake(text), lambda _: " ").lower()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return _unicode_word().findall(text.translate(_KEYBOARD))


_LINK_CHARACTER = r"[^\s<>\"\[\]\u2190-\u2bff\U0001f000-\U0001fbff]"
_OTHER_STARTS = {
    "hH": "(?i:ttp)",
    "fF": "(?i:tp:)",
    "wW": r"(?i:ww\.)",
    "<": "u",
    "[": "[#nN]",
    "@": r"\w",
}
# Where `_token` may match: it is slow to fail, while `re` is fast at alternatives that begin with one character.
_TOKEN_START = re.compile(
    "|".join(
        f"{re.escape(first)}(?:{follows})"
        for starts in (EMOTICON_STARTS, _OTHER_STARTS)
        for firsts, follows in starts.items()
        for first in firsts
    )
)


@cache
def _token(after_another: bool) -> re.Pattern[str]:  # compiled on first use: it is large
    return re.compile(
        rf"(?P<url>{URL}|(?i:(?:https?|ftp)://|(?<!\w)www\.(?=\w)){_LINK_CHARACTER}*[\w/])"
        r"|(?P<trigger>(?i:\[#(?:trigger|target)word#\]))"
        r"|(?P<space>(?i:\[newline\]))"
        rf"|{emoticon_pattern(after_another=after_another)}"
        # "@5pm" is a time. IEST's mask may also follow a word directly.
        r"|(?P<user>@USERNAME(?!\w)|(?<!\w)@(?=_*[^\W\d_])\w+)"
    )


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Links, user names, masks and emoticons, from left to right."""
    end = -1
    start = _TOKEN_START.search(text)
    while start:
        at = start.start()
        token = _token(at == end).match(text, at)
        if token and (token.lastgroup != "emoticon" or emoticon_words(token)):
            end = token.end()
            yield token
        start = _TOKEN_START.search(text, max(end, at + 1))


def _replace_tokens(text: str, replacement: Callable[[re.Match[str]], str]) -> str:
    parts: list[str] = []
    end = 0
    for token in _tokens(text):
        parts += text[end : token.start()], replacement(token)
        end = token.end()
    return "".join((*parts, text[end:])) if parts else text


def _has_emoji(text: str) -> bool:
    return not text.isascii() and may_hold_emoji(text)


def _strip(text: str, replacement: Callable[[re.Match[str]], str]) -> str:
    text = _replace_tokens(text, replacement)
    if _has_emoji(text):
        text = EMOJI_PATTERN.sub(lambda match: " " if emoji_words(match.group()) else match.group(), text)
    return " ".join(text.split())


_ASCII_WORD = re.compile(r"\d+(?:[.,:]\d+)+|[a-z0-9]+(?:'[a-z0-9]+)*")


@cache
def _unicode_word() -> re.Pattern[str]:
    # `re` does not count combining marks as word characters, but words in Hindi and Thai need them.
    import unicodedata

    marks = "".join(mark for mark in map(chr, range(0x300, 0x1D00)) if unicodedata.category(mark)[0] == "M")
    letter = rf"[^\W_][{marks}\u200c\u200d]*"
    return re.compile(rf"\d+(?:[.,:]\d+)+|(?:{letter})+(?:'(?:{letter})+)*")


_KEYBOARD = str.maketrans("’‘‛ʼ“”„‟‐‑", "''''\"\"\"\"--")
_TYPOGRAPHIC = re.compile("[’‘‛ʼ“”„‟‐‑]")
_MENTION = re.compile(rf"(?<!\w){USER}(?!\w)")
_RUN = re.compile(r"([^\W\d_])\1{2,}|[!?！？]{2,}|[.…]{2,}|,{2,}")
_THREE_ALIKE = re.compile(r"(.)\1\1")
_TWO_MARKS = re.compile("[!?！？.…,]{2}")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x9f\u200b\u2060\ufeff]")
_NUMERAL_BEFORE = re.compile(r"(?<!\w)[xvlXVL]*\Z")
_WORD_TO_SHOUT = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


class _Tally:
    """Makes the replacements in one text and counts them under the names of `TextCounts`."""

    def __init__(self, *, count_shouts: bool = False) -> None:
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.count_shouts = count_shouts

    def picture(self, match: re.Match[str]) -> str:
        name = emoji_words(match.group())
        if name is None:
            return match.group()
        self.counts["emoji"] += 1
        return f" {name} "

    def token(self, match: re.Match[str]) -> str:
        match match.lastgroup:
            case "url":
                return _apart(match, URL)
            case "user":
                return _apart(match, USER)
            case "trigger":
                return TRIGGER
            case "space":
                return " "
            case _:
                self.counts["emoticons"] += 1
                return f" {emoticon_words(match)} "

    def shouts(self, text: str) -> None:
        if self.count_shouts:
            self.count_shouts = False  # a second pass would see words that the first inserted
            shoutable = _WORD_TO_SHOUT.findall(text.replace(TRIGGER, " "))
            self.counts["shouted"] = sum(len(word) > 1 and word.isupper() for word in shoutable)

    def run(self, match: re.Match[str]) -> str:
        run = match.group()
        if match.group(1) is None:
            # "?!?!" becomes "?!".
            short = ELLIPSIS if run[0] in ".…" else "".join(dict.fromkeys(run))
            self.counts["repeated_punctuation"] += short != run
            return short
        if not run[0].isalpha() or _is_numeral(match):
            return run
        self.counts["elongations"] += 1
        return run[:2]


def _apart(match: re.Match[str], replacement: str) -> str:
    """The replacement, with a space before it if it directly follows a word."""
    before = match.string[match.start() - 1 : match.start()]
    return f" {replacement}" if before.isalnum() or before == "_" else replacement


def _is_numeral(match: re.Match[str]) -> bool:
    """Whether a run ends a Roman numeral: "World War III" must not become "World War II"."""
    if match.group() not in ("III", "iii") or match.string[match.end() : match.end() + 1].isalnum():
        return False
    return _NUMERAL_BEFORE.search(match.string, max(0, match.start() - 8), match.start()) is not None


def _rewrite(text: str, lowercase: bool, tally: _Tally) -> str:
    """Apply the rules until nothing changes, since one may enable another and normalising must be idempotent.

    It terminates because every rule consumes characters that no rule produces.
    """
    while True:
        before = text
        if "&" in text or not text.isascii():
            text, repaired = repair_and_count(text)
            tally.counts["repaired"] += repaired
            if _TYPOGRAPHIC.search(text):
                text = text.translate(_KEYBOARD)
        if not text.isprintable():
            text = _CONTROL.sub(" ", text)
        text = _replace_tokens(text, tally.token)
        if _has_emoji(text):
            text = EMOJI_PATTERN.sub(tally.picture, text)
        tally.shouts(text)
        if lowercase:
            text = text.lower().replace(TRIGGER.lower(), TRIGGER)
        if _has_run(text):
            text = _RUN.sub(tally.run, text)
        text = " ".join(text.split())
        if text == before or _is_plain(text):
            return text


def _is_plain(text: str) -> bool:
    """A cheap check that no rule applies to a text with single spaces, which is true of most turns."""
    if not text.isprintable() or "&" in text or _TOKEN_START.search(text) or _has_run(text):
        return False
    return text.isascii() or not (_TYPOGRAPHIC.search(text) or may_hold_emoji(text) or may_be_broken(text))


def _has_run(text: str) -> bool:
    return bool(_THREE_ALIKE.search(text) or _TWO_MARKS.search(text))
