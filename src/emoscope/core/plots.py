"""Charts in one style, and ways to save them. Needs the extra `plots`, imported only when used.

Charts are altair's. They hold their own data, and nothing here reaches the network: not while drawing, and not from the
saved page, which is an SVG with no script in it.
"""

import hashlib
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
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


@cache
def _theme() -> dict[str, Any]:
    # Liberation Sans is built into the renderer, so a PNG looks the same everywhere; Arial has its measures.
    theme: dict[str, Any] = json.loads(files("emoscope.core").joinpath("chart_theme.json").read_text(encoding="utf-8"))
    return theme


def altair() -> ModuleType:
    """The altair module, or the line that says how to install it."""
    return require("altair", extra="plots")


def rows(values: Iterable[Mapping[str, Any]]) -> Any:
    """Rows as the data of a chart."""
    return altair().Data(values=[dict(row) for row in values])


def label_colours(labels: Sequence[str]) -> Any:
    """The colour scale of these labels: each emotion has the same colour in every chart."""
    colours = colours_of(labels)
    return altair().Scale(domain=list(colours), range=list(colours.values()))


def titled(chart: Chart, title: str, *subtitle: str) -> Chart:
    """The chart with a headline and, under it, lines that say what is shown."""
    lines = {"subtitle": list(subtitle)} if subtitle else {}
    return chart.properties(title=altair().TitleParams(text=title, **lines))


def spec(chart: Chart) -> dict[str, Any]:
    """The chart as a Vega-Lite document, with our style as the default."""
    document: dict[str, Any] = chart.to_dict()
    config = dict(_theme())
    for key, value in document.get("config", {}).items():
        config[key] = {**config.get(key, {}), **value} if isinstance(value, dict) else value
    return {**document, "config": config}


def svg(chart: Chart) -> str:
    """The chart as an `<svg>` element that can share a page with others."""
    return _with_own_ids(_render("svg", chart))


def png(chart: Chart, *, scale: float = 2.0) -> bytes:
    """The chart as a PNG image; `scale` is the number of pixels to a point."""
    image: bytes = _render("png", chart, scale=scale)
    return image


def page(chart: Chart) -> str:
    """The chart as a whole HTML page that needs nothing else, no script and no network."""
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
    """A square table of texts (`text`), each shaded by its `share`; `turned` tilts the labels of the columns."""
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
    """Write a chart as PNG, SVG, HTML or Vega-Lite JSON, by the ending of the file's name; whole or not at all."""
    target = check_chart_file(path)
    write_file(target, _DRAWN[target.suffix.lower()](chart))
    return target


def check_chart_file(path: str | Path) -> Path:
    """The path, if a chart can be written there."""
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
    # The renderer carries several versions of Vega-Lite; the one altair writes for is the right one if it is there.
    version = ".".join(altair().SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    if version in converter.get_vegalite_versions():
        options["vl_version"] = version
    draw = getattr(converter, f"vegalite_to_{kind}")
    # No URL is allowed: a chart that refers to remote data is an error, and nothing is fetched.
    return draw(spec(chart), allowed_base_urls=[], **options)


def _with_own_ids(drawing: str) -> str:
    """Replace the ids by ones that are unique to this drawing, and the same whenever it is drawn.

    The renderer numbers ids across drawings: without this a chart would differ when drawn again, and on a page with
    several charts `clip0` would refer to the first of them.
    """
    names = dict.fromkeys(re.findall(r'\bid="([^"]+)"', drawing))

    def renamed(prefix: str) -> str:
        numbered = {name: f"{prefix}{number}" for number, name in enumerate(names)}
        pattern = r'(\bid="|url\(#|href="#)([^")]+)([")])'
        return re.sub(pattern, lambda match: match[1] + numbered.get(match[2], match[2]) + match[3], drawing)

    return renamed(f"c{hashlib.sha256(renamed('').encode()).hexdigest()[:8]}-")
