"""The datasheet of a corpus: what it is, how it was made, what it may be used for. Markdown, and HTML with figures.

It answers the questions of Gebru et al. (2021), "Datasheets for Datasets", as far as a program can: from the plan, the
counts of each step and the statistics of the splits. Needs the extra `plots`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emoscope.core.extras import check_installed, require
from emoscope.core.plots import svg
from emoscope.corpus.describe.figures import figures
from emoscope.corpus.describe.statistics import CorpusStatistics

PACKAGES = ("jinja2", "altair", "vl_convert")


@dataclass(frozen=True, slots=True)
class Datasheet:
    """All that a datasheet says.

    `about` has the plan's words: name, title, description, labels, neutral, terms, contact, citation. `steps` are the
    counts of each step, `files` and `inputs` sha256 digests; inputs have no names, which may be people's.
    """

    about: Mapping[str, Any]
    metric: str
    splits: Mapping[str, CorpusStatistics]
    natural_prior: Mapping[str, float]
    natural_source: str
    steps: Sequence[Mapping[str, Any]]
    agreement: Mapping[str, Any] | None
    files: Mapping[str, str]
    inputs: Sequence[str]
    plan: str
    emoscope: str  # the version that made it

    @property
    def labels(self) -> list[str]:
        """The labels, in the plan's order."""
        return list(self.about["labels"])

    @property
    def judging(self) -> Mapping[str, Any] | None:
        """The counts of the step that made labels of judgements, if there was one."""
        return next((step for step in self.steps if step["step"] == "aggregate"), None)

    @property
    def filters(self) -> Mapping[str, Mapping[str, Any]]:
        """What each filter dropped and masked, and how often it errs as far as that was measured."""
        step = next((step for step in self.steps if step["step"] == "filter"), None)
        return {} if step is None else step["filters"]


def check_datasheet() -> None:
    """Say now, rather than when all else is done, which `pip install` a datasheet needs."""
    check_installed(*PACKAGES, extra="plots")


def markdown(sheet: Datasheet) -> str:
    """The datasheet as Markdown."""
    return _rendered("datasheet.md.j2", sheet, autoescape=False)


def page(sheet: Datasheet) -> str:
    """The datasheet as one page of HTML: figures inside, no scripts, nothing fetched."""
    markup = require("markupsafe", extra="plots").Markup
    # Development and test set are drawn alike, so figures of the one would show the same again.
    drawn = {
        name: chart
        for name, chart in figures(sheet.splits, str(sheet.about["title"])).items()
        if not name.startswith("dev-")
    }
    # The renderer escapes the words it draws, so its SVG is the one thing let through as it is.
    charts = {name: markup(svg(chart)) for name, chart in drawn.items()}
    return _rendered("datasheet.html.j2", sheet, autoescape=True, charts=charts)


def _rendered(template: str, sheet: Datasheet, *, autoescape: bool, **values: Any) -> str:
    jinja2 = require("jinja2", extra="plots")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("emoscope.corpus.describe", "templates"),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["whole"] = lambda value: f"{value:,}"
    environment.filters["three"] = lambda value: "–" if value is None else f"{value:.3f}"
    environment.filters["percent"] = lambda value: f"{value:.1%}"
    environment.filters["interval"] = lambda value: (
        "–" if value is None else f"{value['low']:.3f} to {value['high']:.3f}"
    )
    environment.filters["cell"] = _cell
    environment.filters["listed"] = _listed
    environment.filters["fenced"] = _fenced
    text: str = environment.get_template(template).render(sheet=sheet, **values)
    return text


def _cell(value: object) -> str:
    """A value as it may stand in a cell of a Markdown table.

    >>> _cell("a|b")
    'a\\\\|b'
    """
    return " ".join(str(value).split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _listed(values: Mapping[str, Any] | None) -> str:
    """Plain values by name, in a line; what is made of several is left out.

    >>> _listed({"macro_f1": 0.71972, "items": 1860, "at": {}})
    'macro f1 0.720, items 1,860'
    """
    shown = {str(name).replace("_", " "): value for name, value in (values or {}).items()}
    return ", ".join(
        f"{name} {value:.3f}"
        if isinstance(value, float)
        else f"{name} {value:,}"
        if isinstance(value, int)
        else f"{name} {value}"
        for name, value in shown.items()
        if isinstance(value, str | int | float)
    )


def _fenced(text: str) -> str:
    """A block of code whose fence is longer than any within it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}toml\n{text.rstrip()}\n{fence}"
