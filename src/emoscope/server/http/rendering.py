"""Renders pages from the templates of all features."""

from datetime import UTC, datetime  # noqa: F401 (UTC stands in an example)
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import jinja2
from starlette.responses import HTMLResponse

from emoscope import __version__

FEATURES = ("http", "detect", "challenge", "annotate")


@cache
def templates() -> jinja2.Environment:
    """The template environment: everything is escaped, and undefined names are errors."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(f"emoscope.server.{name}") for name in FEATURES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["version"] = __version__
    environment.filters["local"] = local
    environment.filters["in_zone"] = in_zone
    environment.filters["sentence"] = sentence
    return environment


def local(moment: datetime, zone: str) -> str:
    """A moment in a time zone's local time.

    >>> local(datetime(2018, 9, 1, 12, tzinfo=UTC), "Asia/Kolkata")
    '2018-09-01 17:30 Asia/Kolkata'
    """
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} {zone}"


def in_zone(moment: datetime, zone: str) -> str:
    """A moment in a time zone, as a form's field for a date and time holds it.

    >>> in_zone(datetime(2018, 9, 1, 12, tzinfo=UTC), "Asia/Kolkata")
    '2018-09-01T17:30'
    """
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"


def sentence(message: object) -> str:
    """A message as a sentence; one that begins with the name of a file or a field keeps it as it is.

    >>> sentence("the file is empty"), sentence("gold.txt, row 2: unknown label")
    ('The file is empty.', 'gold.txt, row 2: unknown label.')
    """
    text = str(message)
    named = "." in text.partition(" ")[0].rstrip(".")
    begun = text if named else text[:1].upper() + text[1:]
    return begun if begun.endswith((".", "?", "!")) else f"{begun}."


def page(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template as a response."""
    for name in ("visitor", "actor", "here"):
        values.setdefault(name, None)
    return HTMLResponse(templates().get_template(template).render(values), status)
