"""Detections as HTML for notebooks: plain elements with inline styles, no scripts."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from emoscope.core.colours import colours_of

if TYPE_CHECKING:
    from emoscope.core.dialogue import Detection, Turn

_CELL = "text-align:left;padding:2px 10px 2px 0;border:0"
_SAYS = {True: "#37b35b", False: "#e0574b"}  # for the answer, against it


def detection_html(detection: "Detection") -> str:
    """The scores as bars, highest first.

    >>> from emoscope.core.dialogue import Detection
    >>> "<b>joy</b>" in detection_html(Detection("joy", {"joy": 1.0}))
    True
    """
    colours = colours_of(detection.scores)
    ranked = sorted(detection.scores.items(), key=lambda pair: -pair[1])
    rows = [
        (f"<b>{escape(label)}</b>" if label == detection.label else escape(label), _bar(score, colours[label]))
        for label, score in ranked
    ]
    return table_html(rows) + (_CUT if detection.truncated else "")


def timeline_html(turns: Sequence["Turn"], detections: Sequence["Detection"]) -> str:
    """A row for each turn: the speaker, the text, the label and its probability."""
    colours = colours_of(detections[0].scores if detections else ())
    rows = []
    for turn, detection in zip(turns, detections, strict=True):
        shown = escape(detection.label or "unsure")
        bar = _bar(detection.score, colours.get(detection.label or "", "#999"))
        rows.append((escape(turn.speaker or ""), escape(turn.text), f"<b>{shown}</b>", bar))
    return table_html(rows) + (_CUT if any(detection.truncated for detection in detections) else "")


def marked_html(text: str, words: Iterable[tuple[int, int, float]]) -> str:
    """Highlight words by their weight, from -1 to 1: green for the answer, red against it.

    >>> marked_html("so <sad>", [(3, 8, 1.0)])
    'so <mark style="background:#37b35bff;color:inherit">&lt;sad&gt;</mark>'
    """
    shown, end = "", 0
    for start, stop, weight in words:
        colour = f"{_SAYS[weight > 0]}{round(min(1.0, abs(weight)) * 255):02x}"
        mark = f'<mark style="background:{colour};color:inherit">{escape(text[start:stop])}</mark>'
        shown += escape(text[end:start]) + mark
        end = stop
    return shown + escape(text[end:])


def _bar(share: float, colour: str) -> str:
    block = f"display:inline-block;width:{share * 100:.0f}px;height:9px;margin-right:6px;background:{colour}"
    return f'<span style="{block}"></span>{share:.1%}'


def table_html(rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are already HTML."""
    cells = ("".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) for row in rows)
    return '<table style="border:0">' + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


_CUT = "<p><small>Input was cut: the model reads a few turns, and of each a certain length, only.</small></p>"
