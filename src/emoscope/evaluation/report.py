"""Evaluations and comparisons as self-contained HTML files with charts and no scripts. Needs the extra `plots`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from emoscope import __version__
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.files import write_file
from emoscope.core.plots import Chart, svg
from emoscope.evaluation import charts
from emoscope.evaluation.compare import Comparison
from emoscope.evaluation.score import Evaluation, shown_label
from emoscope.tasks import get_task
from emoscope.tasks.published import published


def evaluation_page(evaluation: Evaluation) -> str:
    """An evaluation as a page of HTML."""
    shown = {shown_label(label): figures for label, figures in evaluation.per_class.items()}
    evaluation = replace(evaluation, per_class=shown)
    drawings = {"classes": charts.class_bars(evaluation), "confusion": charts.confusion_map(evaluation)}
    source = None
    if evaluation.rank is not None:
        results = published(evaluation.task)
        source = results.source
        drawings["strip"] = charts.score_strip(evaluation, results)
    return _page(evaluation.task, "evaluation.html.j2", drawings, evaluation=evaluation, source=source)


def comparison_page(comparison: Comparison) -> str:
    """A comparison as a page of HTML."""
    drawings = {"intervals": charts.comparison_intervals(comparison)}
    return _page(comparison.task, "comparison.html.j2", drawings, comparison=comparison)


def write_report(result: Evaluation | Comparison, path: str | Path) -> None:
    """Write the page of a result, whole or not at all.

    >>> write_report(evaluation, "report.html")  # doctest: +SKIP
    """
    page = evaluation_page(result) if isinstance(result, Evaluation) else comparison_page(result)
    write_file(path, page)


def _page(task: str, template: str, drawings: Mapping[str, Chart], **values: Any) -> str:
    try:
        title = get_task(task).metadata.title
    except EmoscopeError:  # a custom task that is not registered
        title = task
    filters = {
        "file": lambda path: Path(path).name,
        "four": "{:.4f}".format,
        "p_value": lambda value: f"{value:.4f}" if value >= 0.0001 else "< 0.0001",
        "whole": "{:,}".format,
    }
    values |= {"title_of_task": title, "version": __version__}
    return render("emoscope.evaluation", template, filters, values, drawings)


def render(
    package: str,
    template: str,
    filters: Mapping[str, Callable[..., str]],
    values: Mapping[str, Any],
    drawings: Mapping[str, Chart],
    **options: Any,
) -> str:
    """Render a package's template with values, and charts as SVG; `options` are for jinja's environment."""
    jinja2 = require("jinja2", extra="plots")
    markup = require("markupsafe", extra="plots").Markup
    options = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, **options}
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"), undefined=jinja2.StrictUndefined, **options
    )
    environment.filters |= filters
    # The chart renderer escapes labels itself, so only its SVG is not escaped again.
    ready = {name: markup(svg(chart)) for name, chart in drawings.items()}
    page: str = environment.get_template(template).render(charts=ready, **values)
    return page
