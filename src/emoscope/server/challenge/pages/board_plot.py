"""The leaderboard as plots: scores with their intervals, scores over time, and a sparkline for each row."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from emoscope.server.challenge.views import BoardView, Entry

_SHOWN = 40
LINES = 8
_SHORTEST = 920.0  # where the shortest line begins


def board_plot(board: BoardView) -> dict[str, Any] | None:
    """The plot's rows and axis ticks, in per cent of its width; None without scores."""
    entries = [entry for entry in board.entries if entry.score is not None][:_SHOWN]
    if not entries:
        return None
    values = [value for entry in entries for value in (entry.score, entry.low, entry.high) if value is not None]
    step, low, high = scale(min(values), max(values))

    def place(value: float) -> float:
        return round((value - low) / (high - low) * 100, 2)

    rows = []
    for number, entry in enumerate(entries):
        score = float(entry.score or 0.0)
        below = next((other.cluster for other in entries[number + 1 :] if other.cluster is not None), None)
        mark = {
            "name": entry.name,
            "kind": entry.kind,
            "mine": entry.mine,
            "x": place(score),
            "low": place(score if entry.low is None else entry.low),
            "high": place(score if entry.high is None else entry.high),
            "ends_cluster": entry.cluster is not None and below is not None and below != entry.cluster,
            "title": f"{entry.name}: {score:.4f}",
        }
        rows.append(mark)
    values = [low + step * number for number in range(round((high - low) / step) + 1)]
    return {"rows": rows, "ticks": [(place(value), f"{value:.2f}") for value in values]}


def scale(low: float, high: float) -> tuple[float, float, float]:
    """A round step, and round limits around the values.

    >>> scale(0.61, 0.79)
    (0.05, 0.6, 0.8)
    """
    step = next((step for step in (0.01, 0.02, 0.05, 0.1) if (high - low) / step <= 6), 0.2)
    begin = math.floor(low / step + 1e-9) * step
    end = math.ceil(high / step - 1e-9) * step
    if end - begin < step / 2:
        begin, end = begin - step, end + step
    return step, round(begin, 4), round(end, 4)


def history_plot(
    board: BoardView, begin: datetime | None, end: datetime | None, added: str = ""
) -> dict[str, Any] | None:
    """The best teams, the visitor's own and one that was asked for; None without any scores.

    Coordinates are in thousandths of the plot's width and height.
    """
    scored = [entry for entry in board.entries if entry.history]
    if not scored:
        return None
    moments = [point.at for entry in scored for point in entry.history]
    first = min(moments) if begin is None else min(begin, *moments)
    last = max(board.computed if end is None else min(end, board.computed), *moments)
    chosen = [entry for at, entry in enumerate(scored) if at < LINES or entry.mine or entry.name == added]
    step, low, high = _scale(chosen)
    frame, small = _Frame(first, last, low, high), _Frame(first, last, *_scale(scored)[1:])
    ticks = [low + step * number for number in range(round((high - low) / step) + 1)]
    return {
        "lines": [{"entry": entry, "path": frame.path(entry)} for entry in chosen],
        "sparks": {entry.name: small.path(entry) for entry in scored},
        "ticks": [(frame.y(value) / 10, f"{value:.2f}") for value in ticks],
        "begin": first,
        "end": last,
    }


def _scale(entries: Sequence[Entry]) -> tuple[float, float, float]:
    values = [point.score for entry in entries for point in entry.history]
    return scale(min(values), max(values))


class _Frame:
    """Coordinates of times and scores in a plot of 1,000 by 1,000."""

    def __init__(self, first: datetime, last: datetime, low: float, high: float) -> None:
        self._first, self._low, self._high = first, low, high
        self._seconds = max(1.0, (last - first).total_seconds())

    def x(self, at: datetime) -> float:
        return round((at - self._first).total_seconds() / self._seconds * 1000, 1)

    def y(self, score: float) -> float:
        return round((self._high - score) / (self._high - self._low) * 1000, 1)

    def path(self, entry: Entry) -> str:
        """An SVG path with a step at each change; a score that has just come still gets a short line."""
        begin = min(self.x(entry.history[0].at), _SHORTEST)
        parts = [f"M{begin} {self.y(entry.history[0].score)}"]
        parts += [f"H{self.x(point.at)}V{self.y(point.score)}" for point in entry.history[1:]]
        return "".join([*parts, "H1000"])


def sorted_entries(entries: Sequence[Entry], key: str, *, descending: bool) -> list[Entry]:
    """The entries sorted by a column of the board; those without a value last."""

    def value(entry: Entry) -> Any:
        if key == "team":
            return entry.name.casefold()
        if key == "change":
            return None if entry.former_rank is None or entry.rank is None else entry.former_rank - entry.rank
        if key.startswith("f1-"):
            return entry.per_class.get(key.removeprefix("f1-"), {}).get("f1")
        if key.startswith("by-"):
            return entry.further.get(key.removeprefix("by-"))
        return getattr(entry, key)

    scored = [entry for entry in entries if value(entry) is not None]
    return [*sorted(scored, key=value, reverse=descending), *(entry for entry in entries if value(entry) is None)]
