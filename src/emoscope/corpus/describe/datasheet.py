"""The datasheet of a corpus, as Markdown and as HTML with figures. Needs the extra `plots`.

It answers the questions of Gebru et al. (2021), "Datasheets for Datasets", as far as the plan, the step counts and the
split statistics allow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emoscope.core.plots import Chart
from emoscope.corpus.describe.figures import figures
from emoscope.corpus.describe.statistics import CorpusStatistics
from emoscope.evaluation.report import render


@dataclass(frozen=True, slots=True)
class Datasheet:
    """The content of a datasheet."""

    about: Mapping[str, Any]  # the plan's name, title, description, labels, neutral, terms, contact, citation
    metric: str
    splits: Mapping[str, CorpusStatistics]
    natural_prior: Mapping[str, float]
    natural_source: str
    steps: Sequence[Mapping[str, Any]]  # counts per step
    agreement: Mapping[str, Any] | None
    files: Mapping[str, str]  # sha256 by name
    inputs: Sequence[str]  # sha256 only, since file names may contain people's names
    plan: str
    emoscope: str  # version that built the corpus

    @property
    def labels(self) -> list[str]:
        return list(self.about["labels"])

    @property
    def judging(self) -> Mapping[str, Any]:
        """The counts of the step `aggregate`, if there was one."""
        return next((step for step in self.steps if step["step"] == "aggregate"), {})

    @property
    def filters(self) -> Mapping[str, Mapping[str, Any]]:
        """What each filter dropped and masked, and its measured error rates."""
        return next((step["filters"] for step in self.steps if step["step"] == "filter"), {})


def markdown(sheet: Datasheet) -> str:
    """The datasheet as Markdown."""
    return _rendered("datasheet.md.j2", sheet, {}, autoescape=False)


def page(sheet: Datasheet) -> str:
    """The datasheet as a self-contained HTML page, with figures and without scripts."""
    charts = figures(sheet.splits, str(sheet.about["title"]))
    # Skip dev: it comes from the same rows as test, so its figures look alike.
    shown = {name: chart for name, chart in charts.items() if not name.startswith("dev-")}
    return _rendered("datasheet.html.j2", sheet, shown, autoescape=True)


def _rendered(template: str, sheet: Datasheet, charts: Mapping[str, Chart], *, autoescape: bool) -> str:
    filters: dict[str, Callable[..., str]] = {
        "whole": "{:,}".format,
        "three": lambda value: "–" if value is None else f"{value:.3f}",
        "percent": "{:.1%}".format,
        "interval": lambda value: "–" if value is None else f"{value['low']:.3f} to {value['high']:.3f}",
        "cell": _cell,
        "listed": _listed,
        "fenced": _fenced,
    }
    options = {"autoescape": autoescape, "keep_trailing_newline": True}
    return render("emoscope.corpus.describe", template, filters, {"sheet": sheet}, charts, **options)


def _cell(value: object) -> str:
    """Escape a value for a Markdown table cell.

    >>> _cell("a|b")
    'a\\\\|b'
    """
    return " ".join(str(value).split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _listed(values: Mapping[str, Any] | None) -> str:
    """Plain values with their names on one line, without nested ones.

    >>> _listed({"macro_f1": 0.71972, "items": 1860, "at": {}})
    'macro f1 0.720, items 1,860'
    """
    formats = {float: ".3f", int: ",", str: ""}
    return ", ".join(
        f"{name.replace('_', ' ')} {value:{formats[type(value)]}}"
        for name, value in (values or {}).items()
        if type(value) in formats
    )


def _fenced(text: str) -> str:
    """A code block whose fence is longer than any inside it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}toml\n{text.rstrip()}\n{fence}"
