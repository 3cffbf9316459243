"""One colour for each emotion, whatever a task calls it; terminals and charts use the same."""

from collections.abc import Iterable
from itertools import cycle

COLOURS = {
    "happy": "#e6a100",
    "joy": "#e6a100",
    "sad": "#3b7dd8",
    "sadness": "#3b7dd8",
    "angry": "#d1382c",
    "anger": "#d1382c",
    "fear": "#8e5bb5",
    "disgust": "#5f8f3e",
    "surprise": "#e2742b",
    "others": "#8a8f98",
    "neutral": "#8a8f98",
    "non-neutral": "#b0a58f",
}

# For labels of somebody's own task.
_SPARE = ("#1b8a8f", "#b5487c", "#7a6a53", "#4d4f9e", "#94a11c", "#c98b6b")


def colours_of(labels: Iterable[str]) -> dict[str, str]:
    """A colour for each label: that of its emotion, or the next spare one.

    >>> colours_of(["joy", "boredom"])
    {'joy': '#e6a100', 'boredom': '#1b8a8f'}
    """
    spare = cycle(_SPARE)
    return {label: COLOURS.get(label) or next(spare) for label in dict.fromkeys(labels)}
