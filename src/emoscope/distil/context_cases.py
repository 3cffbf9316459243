"""Dialogues we wrote whose last turn misleads on its own: tears of joy, quiet threats, pleas, and harmless big words.

The training data have few of them, and a small model that has met none answers by the last turn alone.
"""

import csv
from importlib.resources import files

from emoscope.core.dialogue import Dialogue, Example, Turn

FILE = "misleading.tsv"


def context_cases() -> list[Example]:
    """The dialogues with their labels, in EmoContext's set of labels.

    >>> {example.label for example in context_cases()} == {"happy", "sad", "angry", "others"}
    True
    """
    text = files("emoscope.distil").joinpath("assets", FILE).read_text(encoding="utf-8")
    cases = []
    for row in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        turns = tuple(Turn(row[f"turn{number}"]) for number in (1, 2, 3))
        cases.append(Example(Dialogue(turns), 2, label=row["label"]))
    return cases
