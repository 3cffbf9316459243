"""Texts with a masked emotion word, like IEST's."""

import re
from collections.abc import Iterable, Iterator

from emoscope.core.emotion_words import EMOTION_OF
from emoscope.core.text import TRIGGER

_WORD = re.compile(rf"\b(?:{'|'.join(EMOTION_OF)})\b", re.IGNORECASE)
_BEFORE_CLAUSE = re.compile(r"\b[a-z']{2,}(?=\s+(?:that|because|when)\b)", re.IGNORECASE)
_AFTER_FEEL = re.compile(
    r"\b(?:feel|feeling|felt|i'm|im|so|very|really|too|was|is)\s+(?P<word>[a-z]{3,})\b", re.IGNORECASE
)
_NO_FEELING = {"the", "this", "that", "they", "you", "your", "and", "but", "for", "not", "all", "just", "like", "much"}
_NO_FEELING |= {"many", "going", "what", "here", "there"}


def masked_triggers(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The texts with exactly one emotion word, that word masked, and its emotion.

    >>> list(masked_triggers(["So HAPPY that it works", "sad but happy", "unhappy", "nothing"]))
    [('So [#TRIGGERWORD#] that it works', 'joy')]
    """
    for text in texts:
        emotion_words = list(_WORD.finditer(text))
        if len(emotion_words) == 1:
            word = emotion_words[0]
            yield f"{text[: word.start()]}{TRIGGER}{text[word.end() :]}", EMOTION_OF[word.group().lower()]


def masked_places(texts: Iterable[str]) -> Iterator[str]:
    """Mask a word where a feeling is usually named, whichever word it is, for a teacher to label.

    >>> list(masked_places(["I laugh when it rains", "so good to see you", "I am the one", "nothing"]))
    ['I [#TRIGGERWORD#] when it rains', 'so [#TRIGGERWORD#] to see you']
    """
    for text in texts:
        place = _BEFORE_CLAUSE.search(text)
        span = place.span() if place else None
        if span is None or text[slice(*span)].lower() in _NO_FEELING:
            places = (match for match in _AFTER_FEEL.finditer(text) if match["word"].lower() not in _NO_FEELING)
            span = next((match.span("word") for match in places), None)
        if span is not None:
            yield f"{text[: span[0]]}{TRIGGER}{text[span[1] :]}"
