r"""Find emoji and emoticons in a text, and name them in words.

An emoticon gets the name of the matching emoji, so `:(` and its emoji become the same words. The table favours
precision over recall: it sees no emoticon in "8:0", "(a:b)" or "C:\", and one that it misses stays in the text.
"""

import re
from functools import lru_cache, reduce
from importlib.resources import files

# Bracket and list checks look this many characters back, which keeps the cost linear in the length of the text.
_WINDOW = 200

_PIECES = {
    "{nose}": r"[-‑^~]?",
    "{tear}": r"['’´`]++",
    "{sweat}": r"(?:;(?![()]))?",
    "{no_word}": r"(?!\w)",
    # A word or mark after an opening bracket means that the bracket is punctuation: "colours:(red, blue)".
    "{no_content}": r"""(?![\w#@<"']|\[#)""",
}


def _table(name: str) -> list[list[str]]:
    text = files("emoscope.core").joinpath(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.removesuffix("\n").split("\n")]


def _face(name: str, pattern: str, cheeks: str = "") -> tuple[str, str]:
    """A row of the table; faces marked "()" may have cheeks, `(T_T)`, but a lone bracket is not part of the face."""
    if cheeks:
        after = cheeks.removeprefix("()")
        pattern = rf"\({pattern}\){after}|{pattern}{after}"
    return name, _filled(pattern)


def _filled(pattern: str) -> str:
    return reduce(lambda text, piece: text.replace(piece, _PIECES[piece]), _PIECES, pattern)


# The first matching row names the face. Each alternative starts with a character or set, which `re` tests first.
_FACES = [_face(*row) for row in _table("emoticons.tsv")]
# These may also follow a word directly: "thank you:)". Those with letters or slashes need two letters before them.
_GLUED = _filled(
    r"[:;]{nose}\)++|:{tear}{nose}\)++|[:;]{nose}\(++{no_content}|:{tear}{nose}\(++{no_content}"
    r"|:(?<=[^\W\d_]{2}:)(?:/(?![\w/])|{nose}D++{no_word}|{nose}[pP]++{no_word})|<(?<=[^\W\d_]<)3++{no_word}"
)


def emoticon_pattern(*, after_another: bool = False) -> str:
    """The source of a pattern with one group, `emoticon`; after another one (":P:P") it needs no space before it."""
    left = "" if after_another else r"(?<!\w)"
    return rf"(?P<emoticon>{left}(?:{'|'.join(pattern for _, pattern in _FACES)})|{_GLUED}|[♡❥][\ufe0e\ufe0f]?)"


# How emoticons start: the first character, and a pattern for what follows, as a cheap test before the full match.
EMOTICON_STARTS = dict(_table("emoticon_starts.tsv"))

_BRACKET = re.compile(r"(?<![:;='^-])\((?![:;])|\)")
_LIST_MARK = re.compile(r"(?<!\w)[0-79aA]\)")


def emoticon_words(match: re.Match[str]) -> str | None:
    """The words for a match of `emoticon_pattern`; None if the context shows that it is not an emoticon.

    >>> emoticon_words(re.search(emoticon_pattern(), "oh no :-(("))
    'frowning face'
    """
    face = match.group()
    return _face_words(face) if _is_meant(face, match) else None


@lru_cache(maxsize=1024)
def _face_words(face: str) -> str:
    for words, pattern in _FACES:
        if re.fullmatch(pattern, face):
            return words
    return "heart"


def _is_meant(face: str, match: re.Match[str]) -> bool:
    """Whether a match is an emoticon, not part of the sentence: "(see below:)", "A) tea B) milk"."""
    before = match.string[max(0, match.start() - _WINDOW) : match.start()]
    if face[0] in "8B" and face[1] == ")":
        starts_item = not before and match.end() < len(match.string)
        return not starts_item and not _LIST_MARK.search(before) and _closes_nothing(before)
    if face[0] == ")" or (face[-1] == ")" and (before[-1:].isalnum() or before[-1:] == "_")):
        return _closes_nothing(before)
    return face[0] != "D" or "C:" not in before


def _closes_nothing(before: str) -> bool:
    depth = 0
    for bracket in _BRACKET.findall(before) if "(" in before else ():
        depth = depth + 1 if bracket == "(" else max(0, depth - 1)
    return depth == 0


# The code points of all emoji and some other signs; only these trigger the slow import of the emoji package.
_PICTURES = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001fbff"
_REGIONS = "\U0001f1e6-\U0001f1ff"
# Signs that are plain text unless a variation selector follows; telephone keys need a keycap mark.
_SIGNS = "\u00a9\u00ae\u203c\u2049\u2122\u2139"
_KEYS = "0-9#*"
_STYLE = "[\ufe0e\ufe0f]"
_TONE = "[\U0001f3fb-\U0001f3ff]"
_JOINER = "\u200d"
_ONE = rf"{_STYLE}?{_TONE}?{_STYLE}?[\U000e0020-\U000e007f]*"

_MAY_BE_EMOJI = re.compile(f"[{_PICTURES}{_REGIONS}\ufe0f\u20e3]")
# A candidate for one emoji as the reader sees it, with skin tone and joined emoji; `emoji_words` has the final say.
EMOJI_PATTERN = re.compile(
    rf"[{_PICTURES}{_REGIONS}{_SIGNS}{_KEYS}](?:(?<=[{_PICTURES}]){_ONE}(?:{_JOINER}[{_PICTURES}]{_ONE})*"
    rf"|(?<=[{_REGIONS}])[{_REGIONS}]|(?<=[{_SIGNS}])\ufe0f|(?<=[{_KEYS}])\ufe0f?\u20e3)[\ufe0e\ufe0f{_JOINER}]*"
)


def may_hold_emoji(text: str) -> bool:
    """Whether a text is worth searching with `EMOJI_PATTERN`.

    >>> may_hold_emoji("I’m fine…"), may_hold_emoji("fine 🙂")
    (False, True)
    """
    return _MAY_BE_EMOJI.search(text) is not None


_TONE_WORDS = re.compile(r" (?:medium-light|medium-dark|light|medium|dark) skin tone")
_LETTER_RUN = re.compile(r"([a-z])\1{2,}")
_NO_NAME_MARK = re.compile(r"[^\w\s'&*#-]")


@lru_cache(maxsize=8192)
def emoji_words(sequence: str) -> str | None:
    """The name of an emoji in words, or None if the sequence is not an emoji.

    The skin tone is left out: no detection should depend on it.

    >>> emoji_words("😂"), emoji_words("👍🏽")
    ('face with tears of joy', 'thumbs up')
    """
    name = _name(sequence)
    if name is None:
        parts = re.split(rf"{_JOINER}|(?={_TONE})", sequence)
        names = [_name(part) for part in parts]
        name = " ".join(filter(None, names)) if all(names) else None
    if name is None:
        return None
    plain = _NO_NAME_MARK.sub("", name.strip(":").replace("_", " ").replace("’", "'").lower())
    return _LETTER_RUN.sub(r"\1\1", " ".join(_TONE_WORDS.sub("", plain).split()))


def _name(sequence: str) -> str | None:
    from emoji import EMOJI_DATA

    for spelling in (sequence, sequence.rstrip(f"\ufe0e\ufe0f{_JOINER}"), re.sub(_STYLE, "", sequence)):
        if spelling in EMOJI_DATA:
            return str(EMOJI_DATA[spelling]["en"]).strip(":")
    return None
