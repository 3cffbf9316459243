"""Whether an emotion, an emoticon or a text is pleasant or unpleasant."""

from functools import cache
from importlib.resources import files
from typing import Any

from emoscope.core.extras import require
from emoscope.core.text import emoticons_in, normalise_text, strip_emoticons

PLEASANT, UNPLEASANT = 1, -1
# Surprise and others can be either, so nothing contradicts them.
_OF_CLASS = {
    **dict.fromkeys(("happy", "happiness", "joy", "love"), PLEASANT),
    **dict.fromkeys(("sad", "sadness", "angry", "anger", "fear", "disgust"), UNPLEASANT),
}
_FACES = files("emoscope.corpus.mining").joinpath("faces.tsv").read_text(encoding="utf-8")
_OF_FACE = [line.split("\t") for line in _FACES.splitlines()]


def valence_of_class(name: str) -> int:
    """1 for a pleasant emotion, -1 for an unpleasant one, 0 if unknown.

    >>> valence_of_class("happy"), valence_of_class("sad"), valence_of_class("surprise")
    (1, -1, 0)
    """
    return _OF_CLASS.get(name.lower(), 0)


def valences_of_faces(text: str) -> set[int]:
    """The valences of the emoji and emoticons in a text, without ambiguous ones.

    >>> sorted(valences_of_faces("so what :'( :)")), valences_of_faces("ok 😐")
    ([-1, 1], set())
    """
    return {_valence_of_face(face) for face in emoticons_in(text)} - {0}


@cache
def _valence_of_face(face: str) -> int:
    """Use the first line of `faces.tsv` that is part of the name; a smile with a tear is ambiguous."""
    name = normalise_text(face, lowercase=True)
    return next((int(valence) for valence, part in _OF_FACE if part in name), 0)


def sentiment(text: str) -> float:
    """VADER's sentiment of a text's words, from -1 to 1, without emoticons.

    >>> sentiment("I hate it") < 0 < sentiment("I love it")
    True
    """
    return float(_vader().polarity_scores(strip_emoticons(text))["compound"])


@cache
def _vader() -> Any:
    return require("vaderSentiment.vaderSentiment", extra="corpus").SentimentIntensityAnalyzer()
