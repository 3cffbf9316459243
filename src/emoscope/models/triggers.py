"""How any text with one of IEST's emotion words becomes an example."""

import re
from collections.abc import Iterable, Iterator

from emoscope.emotion_words import EMOTION_OF
from emoscope.text import TRIGGER

_WORD = re.compile(rf"\b(?:{'|'.join(EMOTION_OF)})\b", re.IGNORECASE)


def masked_triggers(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The texts with exactly one emotion word, that word masked, and its emotion.

    >>> list(masked_triggers(["So HAPPY that it works", "sad but happy", "unhappy", "nothing"]))
    [('So [#TRIGGERWORD#] that it works', 'joy')]
    """
    for text in texts:
        found = list(_WORD.finditer(text))
        if len(found) == 1:
            word = found[0]
            yield f"{text[: word.start()]}{TRIGGER}{text[word.end() :]}", EMOTION_OF[word.group().lower()]
