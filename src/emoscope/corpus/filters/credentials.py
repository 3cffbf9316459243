"""Passwords, PINs and document numbers given away in a text; merely mentioning them is harmless."""

import re

from emoscope.corpus.filters.language_words import is_common

_LINK = r"(?:\s*(?:\bis\b|\bwas\b|\bto\b|\bit's\b|\bits\b|=+>?|:|->?|–)\s*)"
_FOR = r"(?:\s+(?:for|of|to|on)\s+(?:(?:the|my|our|your|her|his|this)\s+)?\w+(?:\s+\w+)?)?"
_WORD_KEY = r"\b(?:p[a@4](?:ss|\$\$|55)(?:w[o0]rd|wd|phrase|key|code)?|pwd|pw|passcode|log ?in)s?\b"
_WORD = re.compile(rf"{_WORD_KEY}{_FOR}(?P<link>{_LINK}+)[\"'`(]*(?P<value>\S+)", re.IGNORECASE)
_NEXT_WORD = re.compile(rf"{_WORD_KEY}\s+[\"'`(]*(?P<value>\S+)", re.IGNORECASE)
_PAIR = re.compile(
    r"\b(?:log ?in|sign ?in|log on|user(?:name)?)\b.{0,24}?(?P<value>\S+)\s*/\s*(?P<other>\S+)", re.IGNORECASE
)
_NUMBER_KEY = (
    r"\b(?:(?:atm |card |bank |debit |secret |sim |my |phone |unlock )?p[i1]n(?: ?code| number| no)?|otp|cvv2?|cvc2?|"
    r"(?:one.time|security|verification|verify|confirmation|sms|alarm|door|gate|access|2fa|two.factor|auth\w*|login|unlock|"
    r"safe|lock|entry|garage|activation|passport|reset) ?(?:code|password|pin|number|no)|passcode)s?\b"
)
_NOT_A_CODE = r"(?![\d%]|\s*(?:digits|characters|letters|times))"
_NUMBER = re.compile(
    rf"{_NUMBER_KEY}{_FOR}(?:{_LINK}|\s+|\son the back\s+is\s)+#?(?P<value>\d(?:[ -]?\d){{2,7}}){_NOT_A_CODE}",
    re.IGNORECASE,
)
_SENT_CODE = re.compile(r"\bcode(?:\s+is|:)?\s+(?P<value>\d{4,8})\b", re.IGNORECASE)
_SENT = re.compile(r"\b(?:verif\w+|sms|otp|log ?in|sign ?in|authenticat\w+|two.factor|2fa)\b", re.IGNORECASE)
_IS = r"\W{0,3}(?:is\W{0,2})?"
_DOCUMENT = re.compile(
    rf"\b(?:ssn|social security(?: (?:number|no|num|#))?|sin number){_IS}\d{{3}}[ -]?\d{{2}}[ -]?\d{{4}}\b"
    rf"|\baadh?aa?r(?: (?:number|no|card))*{_IS}\d{{4}}[ -]?\d{{4}}[ -]?\d{{4}}\b"
    rf"|\bpan(?: (?:number|no|card))*{_IS}[a-z]{{5}}\d{{4}}[a-z]\b"
    rf"|\b(?:passport|licen[cs]e|national id|id card)(?: (?:number|no|num|id|#))+\.?{_IS}"
    r"(?=[a-z0-9-]*\d{4})[a-z0-9-]{6,14}\b"
    rf"|\b(?:api|secret|private|access|licen[cs]e|encryption|ssh) ?(?:key|token){_IS}(?=\S*\d)\S{{8,}}"
    r"|\b(?:seed|recovery|backup) (?:phrase|words)\s*(?:is|are|:)\s*(?:[a-z]+[ ,]+){3,}[a-z]+",
    re.IGNORECASE,
)


def discloses_credentials(text: str) -> bool:
    """Whether a text gives away a password, PIN, code or document number.

    >>> [discloses_credentials(text) for text in ("my password is hunter2", "my password is too long", "pin: 4821")]
    [True, False, True]
    """
    if _NUMBER.search(text) or _DOCUMENT.search(text):
        return True
    if _SENT_CODE.search(text) and _SENT.search(text):
        return True
    if any(
        _is_secret(match["value"], named=":" in match["link"] or "=" in match["link"]) for match in _WORD.finditer(text)
    ):
        return True
    if any(_is_mixed(match["value"]) for match in _NEXT_WORD.finditer(text)):
        return True
    return any(_is_mixed(match["other"]) for match in _PAIR.finditer(text))


def _is_secret(value: str, *, named: bool) -> bool:
    """Whether a word in the place of a password is one; after a colon it need not look like one."""
    bare = value.strip(".,;?)\"'`")
    if _is_mixed(bare) or (bare.isdigit() and len(bare) >= 4):
        return True
    plain = bare.rstrip("!").lower()
    return len(plain) >= 5 and plain.isalpha() and not is_common(plain) and (named or len(plain) >= 6)


def _is_mixed(value: str) -> bool:
    """Whether letters are mixed with digits or symbols, unlike in any word."""
    bare = value.strip(".,;?)\"'`")
    if len(bare) < 4 or re.fullmatch(r"\d+(?:st|nd|rd|th|am|pm|k|m)?|\d+[:.]\d+\w*|[a-z]+'[a-z]+", bare, re.IGNORECASE):
        return False
    return bool(re.search(r"[a-z]", bare, re.IGNORECASE)) and bool(re.search(r"[0-9@#$%^&*_]|!(?=\w)", bare))
