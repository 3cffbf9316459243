r"""Emoji and emoticons: where they stand in a text, and what they say in words.

An emoticon gets the name of the emoji that shows the same face, so `:(` and its emoji become the same words.
The table prefers to miss one rather than to see one in "8:0", "(a:b)" or "C:\": what is missed stays in the text.
"""

import re
from functools import lru_cache

# Bracket and list checks look this far back, so that a long text costs no more than its length.
_WINDOW = 200

_NOSE = r"[-‑^~]?"
_TEAR = r"['’´`]++"
_SWEAT = r"(?:;(?![()]))?"
_NO_WORD = r"(?!\w)"
# After an opening bracket a word or a mark means that the bracket opens something: "colours:(red, blue)".
_NO_CONTENT = r"""(?![\w#@<"']|\[#)"""


def _bare_or_bracketed(face: str, after: str = "") -> str:
    """A face that is often drawn with cheeks, `(T_T)`; a lone bracket is not part of it."""
    return rf"\({face}\){after}|{face}{after}"


# The first row that matches names the face. Each alternative starts with a character or a set, which `re` tests first.
_FACES = (
    ("smiling face with horns", rf""">(?<!['"/]>)[:;=]{_NOSE}(?:[)\]]++|D++{_NO_WORD})"""),
    (
        "angry face",
        rf""">(?<!['"/]>)[:;=]{_NOSE}(?:[(\[{{]++{_NO_CONTENT}|[|/\\]++{_NO_WORD}|[oO@]++{_NO_WORD}|<++(?![\w/]))"""
        rf"|[:=]{_NOSE}@{_NO_WORD}|D[:=]<(?![\w/])",
    ),
    ("smiling face with halo", rf"[oO][:;=]{_NOSE}\)++"),
    ("smiling face with sunglasses", rf"[8B][-‑](?:\)++|D{_NO_WORD})|B[-‑]?\|{_NO_WORD}|[8B]\)++"),
    ("face with tears of joy", rf"[:=]{_TEAR}{_NOSE}[dD]++{_NO_WORD}"),
    ("smiling face with tear", rf"""[:;=](?:{_TEAR}|[,"]){_NOSE}[)\]]++|\(['’]:(?![\w()/\\:])"""),
    (
        "crying face",
        rf"""[:;=](?:{_TEAR}|[,"*]){_NOSE}[(\[{{]++{_NO_CONTENT}|[:=]{_TEAR}{_NOSE}(?:[cCoO]++|[|/\\]++){_NO_WORD}"""
        rf"|;{_NOSE}[(\[]++{_NO_CONTENT}|" + _bare_or_bracketed(r";(?:[-_.~]++|[uwaUWA]++);"),
    ),
    (
        "loudly crying face",
        "|".join(_bare_or_bracketed(face + _NO_WORD) for face in (r"T[_.^-]++T", "t_++t", "Q_++Q")),
    ),
    ("smiling face", rf":{_NOSE}[)\]}}]++|:>++(?![\w/])|={_NOSE}[)\]}}]++|[:=]o\)++"),
    ("smiling face", r"[(\[][-‑^]?:(?![\w()/\\:\[\]*|-])|[cC][:;](?=\s*\Z|\s+[^\w\s]|[.!?,])"),
    ("smiling face with smiling eyes", _bare_or_bracketed(rf"\^[-_.~oOω・○]*\^{_NO_WORD}", _SWEAT)),
    ("grinning face", rf"[:=]{_NOSE}[dD]++{_NO_WORD}"),
    ("grinning squinting face", rf"[xX]++[-‑]?[dD]++{_NO_WORD}"),
    (
        "frowning face",
        rf"[:=]{_NOSE}(?:[(\[]++{_NO_CONTENT}|[cC]++{_NO_WORD})|:{_NOSE}\{{++{_NO_CONTENT}|:{_NOSE}<++(?![\w/])"
        r"|\)(?<!\)\))\)*+['’]?[-‑^]?[:=](?![\w()/\\:=])",
    ),
    ("winking face", rf";{_NOSE}(?:[)\]}}]++|[dD]++{_NO_WORD}|3{_NO_WORD})|\([-‑^]?;(?![\w()/\\:-])"),
    ("winking face with tongue", rf";{_NOSE}[pP]++{_NO_WORD}"),
    ("face with tongue", rf"[:=]{_NOSE}[pP]++{_NO_WORD}"),
    ("face blowing a kiss", rf"[:;=]{_NOSE}\*++{_NO_WORD}"),
    ("face with open mouth", rf"[:;=]{_NOSE}[oO]++{_NO_WORD}|:{_NOSE}0{_NO_WORD}"),
    ("confused face", rf"[:;=]{_NOSE}(?:[/\\]++|L){_NO_WORD}|[/\\](?<!//)[-‑^]?:(?![\w/\\():])"),
    ("confounded face", rf"[:=]{_NOSE}[sS]++{_NO_WORD}"),
    ("persevering face", _bare_or_bracketed(r">[_.]*<(?![\w/])")),
    ("neutral face", rf"[:=]{_NOSE}\|++{_NO_WORD}"),
    ("expressionless face", _bare_or_bracketed(r"-(?<!--)(?:_++|\.)-(?![\w-])", _SWEAT) + r"|=_++=(?![\w=])"),
    ("zipper-mouth face", rf":{_NOSE}[xX#]++{_NO_WORD}"),
    ("flushed face", rf":{_NOSE}\$++{_NO_WORD}"),
    ("anguished face", r"D[-‑]?['’]?[:;=](?![\w()/\\:;=])"),
    ("grinning cat", rf":{_NOSE}3++{_NO_WORD}|=(?<!\d.=)3++{_NO_WORD}|\(・ω・\)"),
    ("pensive face", rf"u_++u{_NO_WORD}|U_++U{_NO_WORD}|\.(?<!\.\.)(?:_++|-)\.(?![\w.])"),
    ("astonished face", _bare_or_bracketed(r"[oO](?<!-.)(?:[._-]++[oO]|_++0)(?![\w-])")),
    ("astonished face", _bare_or_bracketed(r"0_++[oO0](?![\w-])")),
    ("unamused face", r">(?<!>>)[_.]++>(?![\w>])|<(?<!<<)[_.]++<(?![\w<])|ಠ_++ಠ"),
    ("star-struck", rf"\*(?:_{{1,2}}|-)\*{_NO_WORD}"),
    ("face with spiral eyes", _bare_or_bracketed(rf"@_++@{_NO_WORD}", _SWEAT)),
    ("face with crossed-out eyes", _bare_or_bracketed(rf"[xX][_.]++[xX]{_NO_WORD}")),
    ("smirking face", r"\( ?͡° ͜ʖ ͡° ?\)"),
    ("enraged face", r"\(╯°□°[)）]╯ ?︵ ?┻━┻"),
    ("person shrugging", r"¯\\?_++\(ツ\)_++/¯?|\\_++\((?:ツ|[^\w\s()]{0,4})\)_++/"),
    ("raising hands", rf"\\[oO]/{_NO_WORD}"),
    ("thumbs up", rf"\([yY]\){_NO_WORD}"),
    ("broken heart", rf"<[/\\]3++{_NO_WORD}"),
    ("red heart", r"<3++(?![^\W_])"),
)
# These may also close a word: "thank you:)". The ones with letters or slashes need a word of two letters.
_GLUED = (
    rf"[:;]{_NOSE}\)++|:{_TEAR}{_NOSE}\)++|[:;]{_NOSE}\(++{_NO_CONTENT}|:{_TEAR}{_NOSE}\(++{_NO_CONTENT}"
    rf"|:(?<=[^\W\d_]{{2}}:)(?:/(?![\w/])|{_NOSE}D++{_NO_WORD}|{_NOSE}[pP]++{_NO_WORD})|<(?<=[^\W\d_]<)3++{_NO_WORD}"
)


def emoticon_pattern(*, after_another: bool = False) -> str:
    """The source of a pattern with one group, `emoticon`; after another, as in ":P:P", none needs a space before it."""
    left = "" if after_another else r"(?<!\w)"
    return rf"(?P<emoticon>{left}(?:{'|'.join(pattern for _, pattern in _FACES)})|{_GLUED}|[♡❥][\ufe0e\ufe0f]?)"


# How each of them starts: a first character, and what must follow for a closer look to be worth while.
EMOTICON_STARTS = {
    ":;=": r"\S",
    ">": "[:;=_.<]",
    "<": r"[3/\\_.]",
    "(": r"[^\w\s]|[TtQoO0xXyY]| ͡",
    ")": r"[)'’^:=‑-]",
    "[": "[-‑^:]",
    "/": "[-‑^:]",
    "-": "[_.]",
    ".": "[_-]",
    "*": "[_-]",
    "@": "_",
    "oO": "[:;=._-]",
    "tT": "[_.^-]",
    "xX": "[._]|[xX]{0,20}[-‑]?[dD]",
    "QuU0ಠ": "_",
    "cC": "[:;]",
    "D": "[:;='’‑-]",
    "8B": "[-‑|)]",
    "^\\¯♡❥": "",
}

_BRACKET = re.compile(r"(?<![:;='^-])\((?![:;])|\)")
_LIST_MARK = re.compile(r"(?<!\w)[0-79aA]\)")


def emoticon_words(match: re.Match[str]) -> str | None:
    """The words for a match of `emoticon_pattern`; None where its surroundings show that it is none.

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
    """Whether brackets and letters are not rather those of the sentence: "(see below:)", "A) tea B) milk"."""
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


# The code points of all emoji and some other signs; only for these is the emoji package imported, which is slow.
_PICTURES = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001fbff"
_REGIONS = "\U0001f1e6-\U0001f1ff"
# Signs that are plain text unless a selector asks for the picture, and the keys of a telephone likewise.
_SIGNS = "\u00a9\u00ae\u203c\u2049\u2122\u2139"
_KEYS = "0-9#*"
_STYLE = "[\ufe0e\ufe0f]"
_TONE = "[\U0001f3fb-\U0001f3ff]"
_JOINER = "\u200d"
_ONE = rf"{_STYLE}?{_TONE}?{_STYLE}?[\U000e0020-\U000e007f]*"

_MAY_BE_EMOJI = re.compile(f"[{_PICTURES}{_REGIONS}\ufe0f\u20e3]")
# One emoji as a reader sees it: with its skin tone, and a family of four is one. `emoji_words` knows if it is one.
EMOJI_PATTERN = re.compile(
    rf"[{_PICTURES}{_REGIONS}{_SIGNS}{_KEYS}](?:(?<=[{_PICTURES}]){_ONE}(?:{_JOINER}[{_PICTURES}]{_ONE})*"
    rf"|(?<=[{_REGIONS}])[{_REGIONS}]|(?<=[{_SIGNS}])\ufe0f|(?<=[{_KEYS}])\ufe0f?\u20e3)[\ufe0e\ufe0f{_JOINER}]*"
)


def may_hold_emoji(text: str) -> bool:
    """Whether a text is worth a search with `EMOJI_PATTERN`.

    >>> may_hold_emoji("I’m fine…"), may_hold_emoji("fine 🙂")
    (False, True)
    """
    return _MAY_BE_EMOJI.search(text) is not None


_TONE_WORDS = re.compile(r" (?:medium-light|medium-dark|light|medium|dark) skin tone")
_LETTER_RUN = re.compile(r"([a-z])\1{2,}")
_NO_NAME_MARK = re.compile(r"[^\w\s'&*#-]")


@lru_cache(maxsize=8192)
def emoji_words(sequence: str) -> str | None:
    """The name of an emoji in words, or None for a sequence that is none.

    The skin tone is left out: it says nothing about the emotion, and no detection should depend on it.

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
