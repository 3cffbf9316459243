"""Evaluations and comparisons as one HTML file each: charts inside, no scripts, nothing fetched. Needs `plots`."""

from pathlib import Path
from typing import Any

from emoscope import __version__
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.files import atomic_write
from emoscope.core.plots import Chart, svg
from emoscope.evaluation import charts
from emoscope.evaluation.compare import Comparison
from emoscope.evaluation.score import Evaluation
from emoscope.tasks import get_task
from emoscope.tasks.published import published


def evaluation_page(evaluation: Evaluation) -> str:
    """An evaluation as a page of HTML."""
    drawings = {"classes": charts.class_bars(evaluation), "confusion": charts.confusion_map(evaluation)}
    source = None
    if evaluation.rank is not None:
        results = published(evaluation.task)
        source = results.source
        drawings["strip"] = charts.score_strip(evaluation, results)
    return _render(
        "evaluation.html.j2", drawings, evaluation=evaluation, title_of_task=_title(evaluation.task), source=source
    )


def comparison_page(comparison: Comparison) -> str:
    """A comparison as a page of HTML."""
    return _render(
        "comparison.html.j2",
        {"intervals": charts.comparison_intervals(comparison)},
        comparison=comparison,
        title_of_task=_title(comparison.task),
    )


def write_report(result: Evaluation | Comparison, path: str | Path) -> None:
    """Write the page of a result, whole or not at all.

    >>> write_report(evaluation, "report.html")  # doctest: +SKIP
    """
    page = evaluation_page(result) if isinstance(result, Evaluation) else comparison_page(result)
    with atomic_write(path) as handle:
        handle.write(page)


def _render(template: str, drawings: dict[str, Chart], **values: Any) -> str:
    jinja2 = require("jinja2", extra="plots")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("emoscope.evaluation", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["file"] = lambda path: Path(path).name
    environment.filters["four"] = lambda value: f"{value:.4f}"
    environment.filters["p_value"] = lambda value: f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
    environment.filters["whole"] = lambda value: f"{value:,}"
    markup = require("markupsafe", extra="plots").Markup
    # The renderer escapes the labels it draws, so its SVG is the one thing let through as it is.
    ready = {name: markup(svg(chart)) for name, chart in drawings.items()}
    page: str = environment.get_template(template).render(charts=ready, version=__version__, **values)
    return page


def _title(task: str) -> str:
    try:
        return get_task(task).metadata.title
    except EmoscopeError:  # somebody's own task, not registered
        return task
