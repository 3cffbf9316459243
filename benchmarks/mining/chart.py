"""The plot of what mining saves against how much it finds."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.mining.draws import EMOTIONS
from emoscope.core import plots


def chart(rows: Sequence[Mapping[str, Any]]) -> plots.Chart:
    """Judgements saved against the share found, by the way of mining; and the precision of each class, of the last."""
    alt = plots.altair()
    ways = list(dict.fromkeys(str(row["way"]) for row in rows))
    saved = [{key: value for key, value in row.items() if key != "found"} for row in rows]
    precise = [
        {
            "class": label,
            "asked": row["asked"],
            "recall": row["found"].own_recall(label),
            "precision": row["found"].precision(label),
        }
        for row in rows
        if row["way"] == ways[-1]
        for label in EMOTIONS
    ]
    x = alt.X("recall:Q", title="share of the pool's emotional dialogues found", axis=alt.Axis(format="%"))
    y = alt.Y("saving:Q", title="times fewer judgements than at random", scale=alt.Scale(domainMin=0))
    legend = alt.Legend(orient="top", columns=2, labelLimit=300)
    # From pale to strong: red to green, as a range of kinds, would say that one of them is wrong.
    colours = ["#c6dbef", "#6baed6", "#2171b5", "#dadaeb", "#9e9ac8", "#54278f"]
    palette = alt.Scale(domain=ways, range=colours[-len(ways) :])
    by_way = _lines(alt, saved, x, y, alt.Color("way:N", sort=ways, scale=palette, legend=legend), "way", "saving")
    goal = alt.Chart(plots.rows([{"saving": 5}])).mark_rule(strokeDash=[4, 4], color=plots.QUIET).encode(y="saving:Q")
    x = alt.X("recall:Q", title="share of the class found", axis=alt.Axis(format="%"))
    y = alt.Y("precision:Q", title="precision", scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color("class:N", scale=plots.label_colours(EMOTIONS), legend=alt.Legend(orient="top"))
    by_class = _lines(alt, precise, x, y, colour, "class", "precision")
    panels = [(goal + by_way).properties(width=420, height=300), by_class.properties(width=300, height=300)]
    return plots.titled(
        alt.hconcat(*panels, spacing=40).resolve_scale(color="independent"),
        "The more is to be found, the less is saved",
        "EmoContext's training dialogues at the natural distribution, 300 seeds of each class; five draws.",
        f"The dashed line is the paper's claim. Right: {ways[-1]}.",
    )


def _lines(alt: Any, rows: Sequence[Mapping[str, Any]], x: Any, y: Any, colour: Any, kind: str, value: str) -> Any:
    """A dot for each draw, and a line through their means."""
    base = alt.Chart(plots.rows(rows))
    dots = base.mark_circle(size=22, opacity=0.45).encode(x=x, y=y, color=colour)
    means = base.transform_aggregate(
        [
            alt.AggregatedFieldDef(op="mean", field="recall", **{"as": "recall"}),
            alt.AggregatedFieldDef(op="mean", field=value, **{"as": value}),
        ],
        groupby=[kind, "asked"],
    )
    return dots + means.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, order="asked:Q")
