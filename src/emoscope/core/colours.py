"""One colour for each emotion, whatever a task calls it; terminals and charts use the same."""

import json
from collections.abc import Iterable
from importlib.resources import files
from itertools import cycle

COLOURS: dict[str, str] = json.loads(files("emoscope.core").joinpath("colours.json").read_text(encoding="utf-8"))
# For the labels of custom tasks.
_SPARE = ("#1b8a8f", "#b5487c", "#7a6a53", "#4d4f9e", "#94a11c", "#c98b6b")


def colours_of(labels: Iterable[str]) -> dict[str, str]:
    """A colour for each label: that of its emotion, or the next spare one.

    >>> colours_of(["joy", "boredom"])
    {'joy': '#e6a100', 'boredom': '#1b8a8f'}
    """
    spare = cycle(_SPARE)
    return {label: COLOURS.get(label) or next(spare) for label in dict.fromkeys(labels)}
