"""Templates to pages."""

from datetime import UTC, datetime  # noqa: F401 (UTC stands in an example)
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import jinja2
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from emoscope import __version__

STATIC = Path(__file__).parent / "static"


@cache
def environment() -> jinja2.Environment:
    """The templates: everything is escaped, and a name that is not given is an error."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("emoscope.server.http", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["version"] = __version__
    made.filters["local"] = local
    return made


def local(moment: datetime, zone: str) -> str:
    """A moment as the clocks of a time zone show it.

    >>> local(datetime(2018, 9, 1, 12, tzinfo=UTC), "Asia/Kolkata")
    '2018-09-01 17:30 Asia/Kolkata'
    """
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} {zone}"


def page(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template as a response."""
    for name in ("visitor", "actor", "here"):
        values.setdefault(name, None)
    return HTMLResponse(environment().get_template(template).render(values), status)


class Assets(StaticFiles):
    """Static files; a browser keeps them, but asks each time whether they changed."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """The file, to be revalidated."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file; text is always UTF-8."""
        response = await super().get_response(path, scope)
        kind = response.headers.get("content-type", "")
        if kind.startswith("text/") and "charset" not in kind:
            response.headers["content-type"] = f"{kind}; charset=utf-8"
        return response
