"""Scores over time as drawings: a small one in each row, and one of the best teams together."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from emoscope.server.challenge.pages.board_plot import scale
from emoscope.server.challenge.views import BoardView, Entry

LINES = 8


def history_plot(
    board: BoardView, begin: datetime | None, end: datetime | None, added: str = ""
) -> dict[str, Any] | None:
    """Steps of the best teams, the visitor's own and one more that was asked for; None where there are none.

    Places are in thousandths of the drawing's width and height.
    """
    told = [entry for entry in board.entries if entry.history]
    if not told:
        return None
    moments = [point.at for entry in told for point in entry.history]
    first = min(moments) if begin is None else min(begin, *moments)
    last = max(board.computed if end is None else min(end, board.computed), *moments)
    chosen = [entry for at, entry in enumerate(told) if at < LINES or entry.mine or entry.name == added]
    step, low, high = _scale(chosen)
    frame, small = _Frame(first, last, low, high), _Frame(first, last, *_scale(told)[1:])
    ticks = [low + step * number for number in range(round((high - low) / step) + 1)]
    return {
        "lines": [{"entry": entry, "path": frame.path(entry)} for entry in chosen],
        "sparks": {entry.name: small.path(entry) for entry in told},
        "ticks": [(frame.y(value) / 10, f"{value:.2f}") for value in ticks],
        "begin": first,
        "end": last,
    }


def _scale(entries: Sequence[Entry]) -> tuple[float, float, float]:
    values = [point.score for entry in entries for point in entry.history]
    return scale(min(values), max(values))


class _Frame:
    """Where moments and scores are in a drawing of 1,000 by 1,000."""

    def __init__(self, first: datetime, last: datetime, low: float, high: float) -> None:
        self._first, self._low, self._high = first, low, high
        self._seconds = max(1.0, (last - first).total_seconds())

    def x(self, at: datetime) -> float:
        return round((at - self._first).total_seconds() / self._seconds * 1000, 1)

    def y(self, score: float) -> float:
        return round((self._high - score) / (self._high - self._low) * 1000, 1)

    def path(self, entry: Entry) -> str:
        """A step at each change, up to the end."""
        parts = [f"M{self.x(entry.history[0].at)} {self.y(entry.history[0].score)}"]
        parts += [f"H{self.x(point.at)}V{self.y(point.score)}" for point in entry.history[1:]]
        return "".join([*parts, "H1000"])


def sorted_entries(entries: Sequence[Entry], key: str, *, descending: bool) -> list[Entry]:
    """The entries by one of the board's columns; those without a value last."""

    def value(entry: Entry) -> Any:
        if key == "team":
            return entry.name.casefold()
        if key == "change":
            return None if entry.former_rank is None or entry.rank is None else entry.former_rank - entry.rank
        if key.startswith("f1-"):
            return entry.per_class.get(key.removeprefix("f1-"), {}).get("f1")
        return getattr(entry, key)

    told = [entry for entry in entries if value(entry) is not None]
    return [*sorted(told, key=value, reverse=descending), *(entry for entry in entries if value(entry) is None)]
