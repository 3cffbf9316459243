"""One colour per feeling, whatever a task calls it; terminals and charts use the same."""

from collections.abc import Iterable

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
    """A colour for each label: its own, or for a label we do not know the next spare one.

    >>> colours_of(["joy", "boredom"])
    {'joy': '#e6a100', 'boredom': '#1b8a8f'}
    """
    found: dict[str, str] = {}
    spare = 0
    for label in labels:
        if label in found:
            continue
        if label in COLOURS:
            found[label] = COLOURS[label]
        else:
            found[label] = _SPARE[spare % len(_SPARE)]
            spare += 1
    return found
