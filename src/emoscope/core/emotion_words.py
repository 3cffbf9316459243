"""Emotion words: IEST's trigger words (Table 1 of its overview paper), and groups of synonyms."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType

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
EMOTION_OF: Mapping[str, str] = MappingProxyType(
    {word: emotion for emotion, words in TRIGGERS.items() for word in words}
)

# Synonyms of each emotion.
_FAMILIES = (
    frozenset(["angry", "anger", "mad", "furious", "rage", "annoyed", "annoyance", "irritated"]),
    frozenset(["sad", "sadness", "unhappy", "depressed", "sorrow", "sorrowful", "grief", "down"]),
    frozenset(["happy", "happiness", "joy", "joyful", "glad", "cheerful", "excited"]),
    frozenset(["fear", "fearful", "afraid", "scared", "frightened", "anxious"]),
    frozenset(["disgust", "disgusted", "disgusting", "gross"]),
    frozenset(["surprise", "surprised", "surprising", "shocked", "astonished"]),
    frozenset(["others", "other", "neutral", "none", "calm"]),
)


def closest_label(word: str, labels: Sequence[str]) -> str | None:
    """The label that was probably meant: a synonym, else one with a similar spelling.

    >>> closest_label("mad", ["happy", "sad", "angry"]), closest_label("hapy", ["happy", "sad"])
    ('angry', 'happy')
    """
    name = word.strip().lower()
    for family in _FAMILIES:
        if name in family:  # do not compare spellings: "mad" is not "sad"
            return next((label for label in labels if label.lower() in family), None)
    return next(iter(get_close_matches(name, labels, n=1)), None)
