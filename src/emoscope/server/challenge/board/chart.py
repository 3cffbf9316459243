"""The board as a chart: teams' scores with intervals, and published systems as ticks."""

from emoscope.core.plots import INK, QUIET, Chart, altair, rows, titled
from emoscope.server.challenge.views import BoardView

_ACCENT = "#2f6fdb"
_SHOWN = 40


def board_chart(board: BoardView) -> Chart:
    """The best teams from the top, with 95 % intervals, and the published scores."""
    alt = altair()
    teams = [entry for entry in board.entries if entry.kind == "team" and entry.rank is not None][:_SHOWN]
    beside = [entry for entry in board.entries if entry.kind != "team" and entry.score is not None]
    names = [entry.name for entry in teams]
    ends = [value for entry in teams for value in (entry.low, entry.high) if value is not None]
    ends += [entry.score for entry in beside if entry.score is not None] or []
    margin = max(0.01, (max(ends) - min(ends)) * 0.06) if ends else 0.1
    domain = [max(0.0, min(ends) - margin), min(1.0, max(ends) + margin)] if ends else [0, 1]
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    x = alt.X("score:Q", scale=scale, title=board.metric, axis=alt.Axis(format=".3f", tickCount=6))
    lane = "published"
    y = alt.Y(
        "team:N",
        sort=[*names, *([lane] if beside else [])],
        title=None,
        axis=alt.Axis(domain=False, ticks=False, labelColor=INK),
    )
    data = rows({"team": entry.name, "score": entry.score, "low": entry.low, "high": entry.high} for entry in teams)
    layers = [
        alt.Chart(data)
        .mark_rule(strokeWidth=3, color=_ACCENT, opacity=0.45)
        .encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y),
        alt.Chart(data).mark_point(size=90, filled=True, color=_ACCENT, opacity=1).encode(x=x, y=y),
    ]
    if beside:
        others = rows({"team": lane, "score": entry.score} for entry in beside)
        layers.append(alt.Chart(others).mark_tick(thickness=2, size=18, color=QUIET).encode(x=x, y=y))
    height = 26 * max(1, len(teams) + bool(beside))
    chart = alt.layer(*layers).properties(width=520, height=height)
    return titled(chart, board.title, f"{board.metric_description}, with 95 % bootstrap intervals")
