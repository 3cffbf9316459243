"""Whether an emotion, an emoticon or a text is pleasant or unpleasant."""

from functools import cache
from typing import Any

from emoscope.core.extras import require
from emoscope.core.text import emoticons_in, normalise_text, strip_emoticons

PLEASANT, UNPLEASANT = 1, -1
# Surprise and others may be either, so nothing contradicts them.
_OF_CLASS = {
    **dict.fromkeys(("happy", "happiness", "joy", "love"), PLEASANT),
    **dict.fromkeys(("sad", "sadness", "angry", "anger", "fear", "disgust"), UNPLEASANT),
}
# Parts of the names of emoji and emoticons; the first that matches counts.
_OF_FACE = (
    ("smiling face with tear", 0),  # as often moved as sad
    ("horns", 0),
    ("tears of joy", PLEASANT),
    *(
        (part, UNPLEASANT)
        for part in ("broken heart", "crying", "frown", "angry", "enraged", "pouting", "sad", "weary")
    ),
    *((part, UNPLEASANT) for part in ("disappointed", "anguished", "persevering", "confounded", "pensive", "worried")),
    *((part, UNPLEASANT) for part in ("tired", "thumbs down", "middle finger", "steam from nose", "symbols on mouth")),
    *((part, PLEASANT) for part in ("smil", "grin", "laughing", "heart", "kiss", "star-struck", "party", "hugging")),
    *((part, PLEASANT) for part in ("tongue", "winking", "savoring", "thumbs up", "clapping", "raising hands")),
)


def valence_of_class(name: str) -> int:
    """1 for a pleasant emotion, -1 for an unpleasant one, 0 where the name does not tell.

    >>> valence_of_class("happy"), valence_of_class("sad"), valence_of_class("surprise")
    (1, -1, 0)
    """
    return _OF_CLASS.get(name.lower(), 0)


def valences_of_faces(text: str) -> set[int]:
    """The valences of the emoji and emoticons in a text, without those that may be either.

    >>> sorted(valences_of_faces("so what :'( :)")), valences_of_faces("ok 😐")
    ([-1, 1], set())
    """
    return {_valence_of_face(face) for face in emoticons_in(text)} - {0}


@cache
def _valence_of_face(face: str) -> int:
    name = normalise_text(face, lowercase=True)
    return next((valence for part, valence in _OF_FACE if part in name), 0)


def sentiment(text: str) -> float:
    """VADER's sentiment of a text's words, from -1 to 1; emoticons are judged on their own.

    >>> sentiment("I hate it") < 0 < sentiment("I love it")
    True
    """
    return float(_vader().polarity_scores(strip_emoticons(text))["compound"])


@cache
def _vader() -> Any:
    return require("vaderSentiment.vaderSentiment", extra="corpus").SentimentIntensityAnalyzer()
