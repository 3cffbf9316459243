"""Scores over time as plots: a sparkline for each row, and one plot of the best teams."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from emoscope.server.challenge.pages.board_plot import scale
from emoscope.server.challenge.views import BoardView, Entry

LINES = 8
_SHORTEST = 920.0  # where the shortest line begins


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
        return getattr(entry, key)

    scored = [entry for entry in entries if value(entry) is not None]
    return [*sorted(scored, key=value, reverse=descending), *(entry for entry in entries if value(entry) is None)]
