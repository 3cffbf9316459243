"""What labels mean, in a few plain words, for a language model's prompt."""

from collections.abc import Mapping
from types import MappingProxyType

_ANGER = "annoyed, offended or furious"
_JOY = "pleased, amused, loving or excited"
_SADNESS = "hurt, disappointed, lonely or grieving"

DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "others": "none of the other emotions",
        "neutral": "no clear feeling",
        "happy": _JOY,
        "joy": _JOY,
        "sad": _SADNESS,
        "sadness": _SADNESS,
        "angry": _ANGER,
        "anger": _ANGER,
        "fear": "worried, nervous or scared",
        "disgust": "repelled or sickened",
        "surprise": "amazed or shocked by something unexpected",
        "shame": "embarrassed before others",
        "guilt": "sorry for one's own fault",
        "optimism": "hopeful that things go well",
        "positive": "speaks well of something",
        "negative": "speaks ill of something",
        "ironic": "means the opposite of the words",
        "sincere": "means the words as they are",
    }
)


def described(label: str) -> str:
    """A label with its description, if it has one.

    >>> described("fear"), described("teal")
    ('fear: worried, nervous or scared', 'teal')
    """
    return f"{label}: {DESCRIPTIONS[label]}" if label in DESCRIPTIONS else label
