"""The frame of the console's pages: tabs, messages and access."""

from typing import Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from emoscope.core.counts import counted
from emoscope.server.challenge.dependencies import Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, Service, Visitor
from emoscope.server.challenge.services import challenges
from emoscope.server.errors import ServerError

TABS = (
    ("", "Overview"),
    ("phases", "Phases"),
    ("texts", "Texts"),
    ("files", "Files"),
    ("teams", "Teams"),
    ("announcements", "Announcements"),
    ("scoring", "Scoring"),
    ("tokens", "Tokens"),
    ("exports", "Exports"),
    ("audit", "Audit log"),
    ("settings", "Settings"),
)


def _organisers_only(visitor: CurrentVisitor, slug: Slug) -> None:
    visitor.ask(challenges.check_organiser, slug)


def console_router(path: str = "") -> APIRouter:
    """A router for pages that only the challenge's organisers may open."""
    prefix = f"/challenges/{{slug}}/organise{path}"
    return APIRouter(prefix=prefix, include_in_schema=False, dependencies=[Depends(_organisers_only)])


def console(visitor: Visitor, slug: str, tab: str, **values: Any) -> Response:
    """A page of a challenge's console."""
    challenge = visitor.ask(challenges.get_challenge, slug)
    values = {"done": None, "undo": None, "tabs": TABS, "tab": tab, "filled": {}, **values}
    return visitor.page(f"console_{values.pop('template', tab) or 'overview'}.html.j2", challenge=challenge, **values)


def being_scored(number: int) -> str:
    """What is said once submissions have been queued for rescoring.

    >>> being_scored(1)
    '1 submission is being rescored.'
    """
    return f"{counted(number, 'submission')} {'is' if number == 1 else 'are'} being rescored."


def refused(visitor: Visitor, service: Service, *values: Any, **options: Any) -> ServerError | None:
    """Call a service; returns the error if it refuses."""
    try:
        visitor.ask(service, *values, **options)
    except ServerError as error:
        return error
    return None
