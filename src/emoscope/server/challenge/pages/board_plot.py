"""The leaderboard as a plot: each entry's score with its interval, in per cent of the plot's width."""

import math
from typing import Any

from emoscope.server.challenge.views import BoardView

_SHOWN = 40


def board_plot(board: BoardView) -> dict[str, Any] | None:
    """The plot's rows and axis ticks; None without scores."""
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
