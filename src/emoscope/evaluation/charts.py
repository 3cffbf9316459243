"""The charts of evaluation reports, narrow enough for a phone."""

from itertools import pairwise

from emoscope.core.plots import INK, QUIET, Chart, altair, heatmap, label_colours, rows
from emoscope.evaluation.compare import Comparison
from emoscope.evaluation.score import Evaluation
from emoscope.tasks.published import Published

WIDTH = 400
ACCENT = "#2f6fdb"
_ROW = 30


def _framed(chart: Chart, height: int) -> Chart:
    """The chart at the width of a report, on the colour of the page."""
    alt = altair()
    return (
        chart.properties(width=WIDTH, height=height, autosize=alt.AutoSizeParams(type="fit", contains="padding"))
        .configure(background="transparent", padding=2)
        .configure_axis(labelFontSize=13, titleFontSize=13)
        .configure_legend(labelFontSize=13, orient="top", offset=6)
    )


def score_strip(evaluation: Evaluation, published: Published) -> Chart:
    """The published scores as ticks, and this one with its interval below them."""
    alt = altair()
    known = [(entry.name, float(entry.score or 0)) for entry in published.scored]
    ends = [score for _, score in known] + [evaluation.interval.low, evaluation.interval.high]
    margin = max(0.01, (max(ends) - min(ends)) * 0.08)
    scale = alt.Scale(domain=[max(0, min(ends) - margin), min(1, max(ends) + margin)], nice=False, zero=False)
    x = alt.X("score:Q", scale=scale, title=evaluation.metric, axis=alt.Axis(format=".2f", tickCount=6))
    lanes = alt.Y("lane:N", sort=["published", "this system"], title=None, axis=alt.Axis(domain=False, ticks=False))
    best = {"score": known[0][1], "lane": "published", "text": f"best: {known[0][0]}"}
    here = {"lane": "this system", "low": evaluation.interval.low, "high": evaluation.interval.high}
    ticks = (
        alt.Chart(rows({"score": score, "lane": "published"} for _, score in known))
        .mark_tick(thickness=2, size=26, color=QUIET, opacity=0.75)
        .encode(x=x, y=lanes)
    )
    named = alt.Chart(rows([best])).mark_text(align="right", dy=-24, dx=4, fontSize=13, color=INK)
    interval = alt.Chart(rows([here])).mark_rule(strokeWidth=3, color=ACCENT, opacity=0.55)
    ours = alt.Chart(rows([{"score": evaluation.score, "lane": "this system"}]))
    point = ours.mark_point(size=120, filled=True, color=ACCENT, opacity=1)
    layers = alt.layer(
        ticks,
        named.encode(x=x, y=lanes, text="text:N"),
        interval.encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=lanes),
        point.encode(x=x, y=lanes),
    )
    return _framed(layers, 170)


def class_bars(evaluation: Evaluation) -> Chart:
    """F1 of each label as a bar, precision and recall as marks on it."""
    alt = altair()
    labels = list(evaluation.labels)
    unit = alt.Scale(domain=[0, 1])
    y = alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(domain=False, ticks=False, labelColor=INK))
    bars = (
        alt.Chart(rows({"label": label, "F1": result.f1} for label, result in evaluation.per_class.items()))
        .mark_bar(height={"band": 0.62}, opacity=0.8)
        .encode(
            x=alt.X("F1:Q", scale=unit, title="F1 (bar), precision and recall (marks)", axis=alt.Axis(tickCount=5)),
            y=y,
            color=alt.Color("label:N", scale=label_colours(labels), legend=None),
        )
    )
    values = [
        {"label": label, "measure": measure, "value": value}
        for label, result in evaluation.per_class.items()
        if result.precision or result.recall  # else the marks would only cover the label's name
        for measure, value in (("precision", result.precision), ("recall", result.recall))
    ]
    shapes = alt.Scale(domain=["precision", "recall"], range=["triangle-right", "diamond"])
    legend = alt.Legend(title=None, symbolFillColor=INK, symbolStrokeColor=INK)
    marks = (
        alt.Chart(rows(values))
        .mark_point(size=70, filled=True, color=INK, opacity=1)
        .encode(
            x=alt.X("value:Q", scale=unit),
            y=y,
            shape=alt.Shape("measure:N", scale=shapes, legend=legend),
        )
    )
    return _framed(alt.layer(bars, marks), 100 + _ROW * len(labels))


def confusion_map(evaluation: Evaluation) -> Chart:
    """Counts of gold (rows) against predicted labels (columns), shaded by the share of the row."""
    labels = evaluation.labels
    cells = [
        {"gold": gold, "predicted": predicted, "text": f"{count:,}", "share": count / max(1, sum(counts))}
        for gold, counts in zip(labels, evaluation.confusion.tolist(), strict=True)
        for predicted, count in zip(labels, counts, strict=True)
    ]
    many = len(labels) > 4
    chart = heatmap(cells, labels, "predicted", "gold", turned=many, size=12 if many else 14)
    return _framed(chart, 90 + 48 * len(labels))


def comparison_intervals(comparison: Comparison) -> Chart:
    """Each system's score with its interval, and a line wherever a significance cluster ends."""
    alt = altair()
    names = [row.title for row in comparison.rows]
    values = [
        {"name": row.title, "score": row.scores.score, "low": row.interval.low, "high": row.interval.high}
        for row in comparison.rows
    ]
    starts = [{"name": row.title} for above, row in pairwise(comparison.rows) if row.cluster != above.cluster]
    band = alt.Scale(type="band", padding=0)
    axis = alt.Axis(domain=False, ticks=False, labelColor=INK, labelLimit=170)
    y = alt.Y("name:N", sort=names, scale=band, title=None, axis=axis)
    scale = alt.Scale(zero=False, nice=True)
    base = alt.Chart(rows(values)).encode(y=y)
    whiskers = base.mark_rule(strokeWidth=3, color=ACCENT, opacity=0.5).encode(
        x=alt.X("low:Q", scale=scale, title=comparison.metric, axis=alt.Axis(format=".2f", tickCount=6)),
        x2="high:Q",
    )
    points = base.mark_point(size=110, filled=True, color=ACCENT, opacity=1).encode(x=alt.X("score:Q", scale=scale))
    lines = (
        alt.Chart(rows(starts))
        .mark_rule(color=QUIET, strokeDash=[5, 4], strokeWidth=1.2)
        .encode(y=alt.Y("name:N", sort=names, scale=band, bandPosition=0))
    )
    return _framed(alt.layer(whiskers, points, lines), 70 + _ROW * len(names))
