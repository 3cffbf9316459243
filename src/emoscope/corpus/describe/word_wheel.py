"""Words around a circle, each with a bar proportional to its frequency."""

import math
from collections.abc import Iterator, Sequence

from emoscope.core.plots import FAINT, INK, QUIET, Chart, altair, rows

_INNER = 42  # radius of the hole in the middle
_OUTER = 172  # radius of the longest bar
_MARGIN = 14  # around it; longer words enlarge the chart
_GAP = math.radians(16)  # at the top, for the ring values
_LONGEST = 15  # characters shown of a word
_FEWEST = 15  # minimum number of bar positions, so that few bars do not get too wide


Spoke = tuple[str, float]  # a word and its frequency, in any unit


def wheel(name: str, spokes: Sequence[Spoke], colour: str, *, caption: str = "") -> Chart:
    """One circle of bars, clockwise from the most frequent word.

    Vega-Lite has no polar axis, so positions are computed here in pixels.
    """
    alt = altair()
    size = 2 * (_OUTER + _MARGIN)
    top = max((rate for _, rate in spokes), default=1.0)
    rings = [{"radius": _radius(value, top)} for value in ring_values(top)]
    marks = [{"x": size / 2, "y": size / 2 - _radius(value, top), "text": f"{value:g}"} for value in ring_values(top)]
    bars = list(_bars(spokes, top, size / 2))

    def places(data: object) -> Chart:
        return alt.Chart(data).encode(x=alt.X("x:Q", scale=None, axis=None), y=alt.Y("y:Q", scale=None, axis=None))

    def words(side: str) -> Chart:
        # Alignment cannot be encoded, so each half is a layer; the left half is rotated to be readable.
        return (
            places(rows(bar for bar in bars if bar["side"] == side))
            .mark_text(align=side, baseline="middle", fontSize=12, color=INK)
            .encode(text="word:N", angle=alt.Angle("angle:Q", scale=None))
        )

    return alt.layer(
        alt.Chart(rows(rings))
        .mark_arc(filled=False, stroke=FAINT, strokeWidth=1, theta=0, theta2=2 * math.pi)
        .encode(radius=alt.Radius("radius:Q", scale=None, stack=None)),
        alt.Chart(rows(bars))
        .mark_arc(innerRadius=_INNER, color=colour, stroke="white", strokeWidth=0.5)
        .encode(
            theta=alt.Theta("start:Q", scale=None, stack=None),
            theta2="end:Q",
            radius=alt.Radius("radius:Q", scale=None, stack=None),
            opacity=alt.Opacity("opacity:Q", scale=None),
        ),
        places(rows(marks)).mark_text(baseline="bottom", fontSize=10.5, color=QUIET).encode(text="text:N"),
        words("left"),
        words("right"),
        # The upper left corner is free, since the last bars are the shortest.
        places(rows([{"x": 0, "y": 4, "text": name}]))
        .mark_text(align="left", color=colour, fontSize=16, fontWeight="bold")
        .encode(text="text:N"),
        places(rows([{"x": 0, "y": 22, "text": caption}])).mark_text(align="left", color=QUIET).encode(text="text:N"),
    ).properties(width=size, height=size)


def ring_values(top: float) -> list[float]:
    """Two to four round values up to the highest rate.

    >>> ring_values(87.0), ring_values(1.3)
    ([20.0, 40.0, 60.0, 80.0], [0.5, 1.0])
    """
    if top <= 0:
        return []
    reach = top * (1 + 1e-9)  # so that rounding does not drop the outermost ring
    power = 10.0 ** math.floor(math.log10(top))
    step = next(factor * power for factor in (0.2, 0.5, 1.0, 2.0, 5.0) if reach / (factor * power) < 5)
    return [round(step * number, 10) for number in range(1, int(reach / step) + 1)]


def _radius(rate: float, top: float) -> float:
    return _INNER + (_OUTER - _INNER) * rate / top if top else _INNER


def _bars(spokes: Sequence[Spoke], top: float, centre: float) -> Iterator[dict[str, str | float]]:
    width = (2 * math.pi - _GAP) / max(len(spokes), _FEWEST)
    for position, (word, rate) in enumerate(spokes):
        start = _GAP / 2 + position * width
        middle = start + width / 2
        radius = _radius(rate, top)
        right = middle < math.pi
        yield {
            "word": word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…",
            "start": start,
            "end": start + width,
            "radius": radius,
            "opacity": 0.95 if position % 2 == 0 else 0.75,  # separates neighbours of the same height
            "x": centre + (radius + 6) * math.sin(middle),
            "y": centre - (radius + 6) * math.cos(middle),
            "angle": math.degrees(middle) + (-90 if right else 90),
            "side": "left" if right else "right",
        }
