"""The emotion words that IEST's organisers searched tweets for, and how any text with one becomes an example."""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from emoscope.text import TRIGGER

# Table 1 of the IEST paper.
TRIGGERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "anger": ("angry", "furious"),
        "disgust": ("disgusted", "disgusting"),
        "fear": ("afraid", "frightened", "scared", "fearful"),
        "joy": ("cheerful", "happy", "joyful"),
        "sad": ("sad", "depressed", "sorrowful"),
        "surprise": ("surprising", "surprised", "astonished", "shocked", "startled", "astounded", "stunned"),
    }
)
_EMOTION_OF = {word: emotion for emotion, words in TRIGGERS.items() for word in words}
_WORD = re.compile(rf"\b(?:{'|'.join(_EMOTION_OF)})\b", re.IGNORECASE)


def masked_triggers(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The texts with exactly one emotion word, that word masked, and its emotion.

    >>> list(masked_triggers(["So HAPPY that it works", "sad but happy", "unhappy", "nothing"]))
    [('So [#TRIGGERWORD#] that it works', 'joy')]
    """
    for text in texts:
        found = list(_WORD.finditer(text))
        if len(found) == 1:
            word = found[0]
            yield f"{text[: word.start()]}{TRIGGER}{text[word.end() :]}", _EMOTION_OF[word.group().lower()]
