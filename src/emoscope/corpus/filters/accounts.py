"""E-mail addresses and accounts as people write them in chats: "name at gmail dot com", "my insta is name"."""

import re
from collections.abc import Iterator

from emoscope.corpus.filters.language_words import is_common
from emoscope.corpus.filters.spans import Kind, Span

_ENDING = r"(?:com|net|org|edu|gov|info|io|co|in|uk|de|fr|es|it|nl|se|pl|br|mx|au|nz|ca|ie|ch|at|eu|me|biz|fm|us)"
_AT = r"(?:\s*[\[({]\s*at\s*[\])}]\s*|\s+at\s+|\s*@\s*)"
_DOT = r"(?:\s*[\[({]\s*dot\s*[\])}]\s*|\s+dot\s+|\s*\.\s*)"
_USER = r"[a-z0-9][\w.+-]{0,63}(?:(?:\s*[\[({]\s*dot\s*[\])}]\s*|\s+dot\s+)[\w+-]{1,63}){0,4}"
_SPELLED_EMAIL = re.compile(
    rf"(?<![\w.@+-])(?P<user>{_USER})(?P<at>{_AT})(?P<host>[a-z0-9][\w-]{{0,63}}(?:{_DOT}[a-z0-9][\w-]{{0,63}}){{0,4}}?)"
    rf"(?P<dot>{_DOT})"
    rf"{_ENDING}(?:{_DOT}{_ENDING})?(?![\w@])",
    re.IGNORECASE,
)
_MAIL_HOSTS = re.compile(
    r"(?:g-?mail|google-?mail|yahoo|ymail|hotmail|outlook|live|msn|icloud|me|aol|proton-?mail|proton|gmx|web|fastmail|"
    r"rediffmail|zoho|mail|yandex|qq|163)",
    re.IGNORECASE,
)
# What stands before an @ in "see you @home" is a place or a time, not an account.
_PLACES = re.compile(
    r"home|work|school|office|gym|college|uni|church|here|there|all|everyone|everybody|channel|the|my|an?|user|username|"
    r"night|noon|midnight|lunch|dinner|you|me|him|her|them|that|this|it"
)
_AT_NAME = re.compile(r"(?<![\w@.])[@＠](?P<name>[^\W\d_][\w.-]*\w|\d+[^\W\d][\w.-]*\w|_\w+)(?![\w@])")
_CLOCK = re.compile(r"\d{1,2}(?:[.:]?\d{2})?(?:am|pm|h|ish|th|st|nd|rd|o'?clock)?", re.IGNORECASE)
_SERVICE = (
    r"(?:insta(?:gram)?|ig|snap(?:chat)?|sc|twitter|tiktok|discord|telegram|tg|skype|kik|twitch|psn|xbox|gamertag|steam|"
    r"reddit|wechat|venmo|cashapp)"
)
_ACCOUNT = re.compile(
    rf"\b{_SERVICE}(?:\s+(?:handle|name|id|username|user|account|acc))?"
    rf"(?:\s*[:=\-]\s*|\s+(?:is|its|it's|at|on|as|me|:|named|called)\s*[:]?\s*)+"
    rf"(?P<name>[@＠]?[a-z0-9][\w.-]*[\w](?:#\d{{4}})?)",
    re.IGNORECASE,
)
_SERVICE_NEXT = re.compile(rf"\b{_SERVICE}\s+(?P<name>[a-z0-9][\w.-]*\w)", re.IGNORECASE)
_TAGGED = re.compile(r"(?<![\w#])[a-z0-9][\w.]{1,31}#\d{4}(?!\d)", re.IGNORECASE)
_REDDIT = re.compile(r"(?<![\w/.:])/?u/(?!n\b)[\w-]{3,20}(?![\w/])", re.IGNORECASE)


def spelled_emails(text: str) -> Iterator[Span]:
    """Addresses whose @ or dots are written as words, or with spaces around them.

    >>> [text[s.start : s.end] for text in ["its ann dot b at gmail dot com ok"] for s in spelled_emails(text)]
    ['ann dot b at gmail dot com']
    """
    for match in _SPELLED_EMAIL.finditer(text):
        at, dot = match["at"].strip().lower(), match["dot"].strip().lower()
        if at == "@" or at[0] in "[({":
            # "meet @ the mall. it is" has a space after its full stop, as no address has without one before it.
            if dot == "." and re.search(r"\.\s", match["dot"]) and not re.search(r"\s\.", match["dot"]):
                continue
        elif not _MAIL_HOSTS.fullmatch(match["host"]) and (dot == "." or is_common(match["host"].lower())):
            continue  # "look at amazon.com", "look at that dot com bubble"
        yield Span(match.start(), match.end(), Kind.EMAIL)


def handles(text: str) -> Iterator[Span]:
    """Account names: @name, name#1234, u/name, and those introduced as in "my insta is ...".

    >>> [text[s.start : s.end] for text in ["@ann see you @home, my insta is an.na_7"] for s in handles(text)]
    ['@ann', 'an.na_7']
    """
    if "@" in text or "＠" in text:
        for match in _AT_NAME.finditer(text):
            name = match["name"].lower()
            if not _PLACES.fullmatch(name) and not _CLOCK.fullmatch(name):
                yield Span(match.start(), match.end(), Kind.HANDLE)
    for match in _ACCOUNT.finditer(text):
        if _is_account(match["name"]):
            yield Span(match.start("name"), match.end("name"), Kind.HANDLE)
    for match in _SERVICE_NEXT.finditer(text):
        if _has_a_mark(match["name"]):
            yield Span(match.start("name"), match.end("name"), Kind.HANDLE)
    for pattern in (_TAGGED, _REDDIT):
        for match in pattern.finditer(text):
            yield Span(match.start(), match.end(), Kind.HANDLE)


def _is_account(name: str) -> bool:
    """Whether a name has what words lack, a digit, a symbol or an @: "my snap is broken" names no account."""
    return name.startswith(("@", "＠")) or _has_a_mark(name)


def _has_a_mark(name: str) -> bool:
    return bool(re.search(r"\d|_|\w\.\w|\w-\w", name)) and not _CLOCK.fullmatch(name)
