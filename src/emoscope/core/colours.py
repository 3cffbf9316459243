"""One colour per emotion, whatever a task calls it, shared by terminals and charts."""

import json
from collections.abc import Iterable
from importlib.resources import files
from itertools import cycle

COLOURS: dict[str, str] = json.loads(files("emoscope.core").joinpath("colours.json").read_text(encoding="utf-8"))
# For the labels of custom tasks.
_SPARE = ("#1b8a8f", "#b5487c", "#7a6a53", "#4d4f9e", "#94a11c", "#c98b6b")


def colours_of(labels: Iterable[str]) -> dict[str, str]:
    """Map each label to the colour of its emotion, or to the next spare colour.

    >>> colours_of(["joy", "boredom"])
    {'joy': '#e6a100', 'boredom': '#1b8a8f'}
    """
    spare = cycle(_SPARE)
    return {label: COLOURS.get(label) or next(spare) for label in dict.fromkeys(labels)}
