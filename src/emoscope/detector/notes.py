"""Notes on an answer: the message is not English, or it mentions self-harm.

Two rules on top of any model's answer, which look at the labelled turn alone. Official predictions for a task
(`Detector.predict_examples`) do not follow them.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from emoscope.core.language import Language, common_words, language_of
from emoscope.core.metrics import Floats
from emoscope.core.self_harm import PHRASES, WORDS, mentions_self_harm
from emoscope.detector.long_turns import shortened
from emoscope.models.native.library import library
from emoscope.models.native.screen import HARMLESS, IS_ENGLISH, NativeScreen

LANGUAGE_NOTES: dict[Language, str] = {
    "other": "not English: the model was taught English only",
    "mixed": "partly not English: the model was taught English only",
}
SELF_HARM_NOTE = "speaks of self-harm: not answered as anger or joy; this is no safety tool"
# How far the answer to a message in another language is moved towards the mix of labels in training.
_TEMPERED: dict[str, float] = {LANGUAGE_NOTES["other"]: 0.7, LANGUAGE_NOTES["mixed"]: 0.3}

Notes = Mapping[int, tuple[str, ...]]  # by the message's position in a batch

_NEVER = frozenset(("anger", "angry", "joy", "happy", "happiness"))
_INSTEAD = ("sadness", "sad", "neutral", "others")


def notes_of(text: str, sure: int = 0) -> tuple[str, ...]:
    """The notes on a message, usually none; checks that the native screen already passed (`sure`) are skipped.

    >>> notes_of("so happy for you!!"), notes_of("no sé qué hacer, estoy muy triste")
    ((), ('not English: the model was taught English only',))
    """
    text = shortened(text)
    language = "english" if sure & IS_ENGLISH else language_of(text)
    notes = () if language == "english" else (LANGUAGE_NOTES[language],)
    return notes if sure & HARMLESS or not mentions_self_harm(text) else (*notes, SELF_HARM_NOTE)


def notes_of_all(texts: Sequence[str]) -> Notes:
    """The notes on messages, by position; only those that have any.

    >>> notes_of_all(["so happy for you!!", "kya baat hai yaar"])
    {1: ('not English: the model was taught English only',)}
    """
    screen = _screen()
    sure = bytes(len(texts)) if screen is None else screen.sure(texts)
    unsure = np.flatnonzero(np.frombuffer(sure, np.uint8) != IS_ENGLISH | HARMLESS).tolist()
    return {place: notes for place in unsure if (notes := notes_of(texts[place], sure[place]))}


@cache
def _screen() -> NativeScreen | None:
    if library() is None:
        return None
    english, foreign = common_words()
    return NativeScreen(english=english, foreign=foreign, harm=WORDS, phrases=PHRASES)


def temper(probabilities: Floats, mix: Floats, notes: Notes) -> Floats:
    """Move the probabilities of messages that are not English towards the mix of labels in training.

    >>> temper(np.array([[1.0, 0.0]]), np.array([0.5, 0.5]), {0: (LANGUAGE_NOTES["mixed"],)}).tolist()
    [[0.85, 0.15]]
    """
    shares = {place: max(_TEMPERED.get(note, 0.0) for note in each) for place, each in notes.items()}
    if not any(shares.values()):
        return probabilities
    rows = list(shares)
    tempered = probabilities.copy()
    tempered[rows] += np.array(list(shares.values()))[:, None] * (mix - probabilities[rows])
    return tempered


def spare_anger_and_joy(probabilities: Floats, labels: Sequence[str], notes: Notes) -> Floats:
    """For messages that mention self-harm, move the probability of anger and joy to sadness.

    >>> spare_anger_and_joy(np.array([[0.7, 0.2, 0.1]]), ("joy", "sadness", "fear"), {0: (SELF_HARM_NOTE,)}).round(2)
    array([[0. , 0.9, 0.1]])
    """
    rows = [place for place, each in notes.items() if SELF_HARM_NOTE in each]
    instead = next((labels.index(label) for label in _INSTEAD if label in labels), None)
    if instead is None or not rows:
        return probabilities
    never = [place for place, label in enumerate(labels) if label in _NEVER]
    moved = probabilities.copy()
    for place in never:
        moved[rows, instead] += moved[rows, place]
        moved[rows, place] = 0.0
    return np.minimum(moved, 1.0)
