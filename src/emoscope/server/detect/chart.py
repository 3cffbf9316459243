"""The timeline chart: a stacked column of probabilities for each row."""

import math
from dataclasses import dataclass

from emoscope.server.detect.question import Answer, Row

TOP, INNER = 8, 188  # pixels: the top of the columns, and their height


@dataclass(frozen=True, slots=True)
class Part:
    """The share of one label in a column."""

    label: str
    colour: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """The stacked probabilities of a row; `left` and `width` are shares of the chart's width."""

    row: Row
    left: float
    width: float
    parts: list[Part]
    tick: bool  # whether its number is shown below


def columns(answer: Answer) -> list[Column]:
    """The columns of a chart.

    >>> from emoscope.core.dialogue import Detection, Turn
    >>> row = Row(1, Turn("we won!"), Detection("happy", {"happy": 0.75, "others": 0.25}))
    >>> (column,) = columns(Answer([row], {"others": "#888", "happy": "#fa0"}, "nano"))
    >>> [(part.label, part.height) for part in column.parts]
    [('others', 46.0), ('happy', 140.0)]
    """
    rows = answer.rows
    step = 1 / max(len(rows), 12)  # columns of short conversations are not wide
    every = math.ceil(len(rows) / 12)
    stacks = []
    for place, row in enumerate(rows):
        parts, bottom = [], float(TOP + INNER)
        for label, colour in answer.stacked.items():
            height = INNER * row.detection.scores[label]
            bottom -= height
            if height >= 0.2:
                gap = 1 if height > 3 else 0
                parts.append(Part(label, colour, round(bottom, 2), round(height - gap, 2)))
        stacks.append(Column(row, step * place, step, parts, place % every == 0))
    return stacks
