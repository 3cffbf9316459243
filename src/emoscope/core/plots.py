"""Altair charts in one style, and ways to save them. Needs the extra `plots`, imported only when used.

Charts embed their data. Neither drawing nor the saved page, an SVG without scripts, uses the network.
"""

import hashlib
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

from emoscope.core.colours import colours_of
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.core.files import write_file

Chart = Any  # an altair chart of any kind; altair is imported only when a chart is drawn

INK = "#24292f"  # titles and values
QUIET = "#5b636d"  # axes and subtitles
FAINT = "#e3e6ea"  # grids
# Liberation Sans is built into the renderer, so a PNG looks the same everywhere; Arial has the same metrics.
_THEME: dict[str, Any] = json.loads(files("emoscope.core").joinpath("chart_theme.json").read_text(encoding="utf-8"))


def altair() -> ModuleType:
    """Import altair; if it is missing, the error says how to install it."""
    return require("altair", extra="plots")


def rows(values: Iterable[Mapping[str, Any]]) -> Any:
    """Rows as the data of a chart."""
    return altair().Data(values=[dict(row) for row in values])


def label_colours(labels: Sequence[str]) -> Any:
    """The colour scale for these labels; an emotion has the same colour in every chart."""
    colours = colours_of(labels)
    return altair().Scale(domain=list(colours), range=list(colours.values()))


def titled(chart: Chart, title: str, *subtitle: str) -> Chart:
    """Add a title and lines of subtitle to a chart."""
    lines = {"subtitle": list(subtitle)} if subtitle else {}
    return chart.properties(title=altair().TitleParams(text=title, **lines))


def spec(chart: Chart) -> dict[str, Any]:
    """The chart as a Vega-Lite specification, with our style as the default."""
    document: dict[str, Any] = chart.to_dict()
    config = dict(_THEME)
    for key, value in document.get("config", {}).items():
        config[key] = {**config.get(key, {}), **value} if isinstance(value, dict) else value
    return {**document, "config": config}


def svg(chart: Chart) -> str:
    """The chart as an `<svg>` element that can share a page with others."""
    return _with_own_ids(_render("svg", chart))


def png(chart: Chart, *, scale: float = 2.0) -> bytes:
    """The chart as a PNG image, with `scale` pixels per point."""
    image: bytes = _render("png", chart, scale=scale)
    return image


def page(chart: Chart) -> str:
    """The chart as a self-contained HTML page, without scripts."""
    title = spec(chart).get("title", "")
    name = title.get("text", "") if isinstance(title, dict) else title
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(str(name) or 'Chart')}</title>\n"
        "<style>body{margin:1rem}svg{max-width:100%;height:auto}</style>\n"
        f"</head>\n<body>\n{svg(chart)}\n</body>\n</html>\n"
    )


def heatmap(
    cells: Iterable[Mapping[str, Any]], labels: Sequence[str], x: str, y: str, *, turned: bool, size: int
) -> Chart:
    """A square table of cells with a `text`, shaded by their `share`; `turned` tilts the column labels."""
    alt = altair()
    axis = alt.Axis(domain=False, ticks=False, labelColor=INK, labelAngle=0, labelLimit=200)
    top = alt.Axis(domain=False, ticks=False, labelColor=INK, labelLimit=200, orient="top", labelAngle=-35 * turned)
    base = alt.Chart(rows(cells)).encode(
        x=alt.X(f"{x}:N", sort=list(labels), axis=top), y=alt.Y(f"{y}:N", sort=list(labels), axis=axis)
    )
    # Up to this opacity, dark text on a light page and light text on a dark one stay readable.
    opacity = alt.FillOpacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, 0.75]), legend=None)
    shades = base.mark_rect(fill="#2f6fdc", stroke=FAINT, strokeWidth=1).encode(fillOpacity=opacity)
    return alt.layer(shades, base.mark_text(fontSize=size, color=INK).encode(text="text:N"))


def save(chart: Chart, path: str | Path) -> Path:
    """Write a chart atomically as PNG, SVG, HTML or Vega-Lite JSON, depending on the file's extension."""
    target = check_chart_file(path)
    write_file(target, _DRAWN[target.suffix.lower()](chart))
    return target


def check_chart_file(path: str | Path) -> Path:
    """Check that a chart can be written to a path."""
    altair()
    target = Path(path)
    if target.suffix.lower() not in _DRAWN:
        expected = ", ".join(_DRAWN)
        raise EmoscopeError(f"{target}: cannot draw a chart as {target.suffix or 'this'!r}, expected one of {expected}")
    return target


_DRAWN: dict[str, Callable[[Chart], str | bytes]] = {
    ".png": png,
    ".svg": svg,
    ".html": page,
    ".json": lambda chart: json.dumps(spec(chart), indent=1, ensure_ascii=False) + "\n",
}


def _render(kind: str, chart: Chart, **options: Any) -> Any:
    converter = require("vl_convert", extra="plots")
    # The renderer ships several versions of Vega-Lite; use altair's if it is among them.
    version = ".".join(altair().SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    if version in converter.get_vegalite_versions():
        options["vl_version"] = version
    draw = getattr(converter, f"vegalite_to_{kind}")
    # No URL is allowed, so a chart that refers to remote data is an error.
    return draw(spec(chart), allowed_base_urls=[], **options)


def _with_own_ids(drawing: str) -> str:
    """Replace the ids by ones that are unique to this drawing and reproducible.

    The renderer's ids depend on what was drawn before, and clash on a page with several charts.
    """
    names = dict.fromkeys(re.findall(r'\bid="([^"]+)"', drawing))

    def renamed(prefix: str) -> str:
        numbered = {name: f"{prefix}{number}" for number, name in enumerate(names)}
        pattern = r'(\bid="|url\(#|href="#)([^")]+)([")])'
        return re.sub(pattern, lambda match: match[1] + numbered.get(match[2], match[2]) + match[3], drawing)

    return renamed(f"c{hashlib.sha256(renamed('').encode()).hexdigest()[:8]}-")
