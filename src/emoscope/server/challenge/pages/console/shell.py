"""The frame of the console's pages: tabs, messages and access."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from emoscope.core.counts import counted
from emoscope.server.challenge.dependencies import Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, Visitor
from emoscope.server.challenge.services import challenges
from emoscope.server.http.forms import FormPage, Values

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


def console_page(router: APIRouter, path: str, tab: str, template: str = "") -> FormPage:
    """A page of a challenge's console on one of its tabs."""
    return FormPage(router, path, partial(_console, tab, f"console_{template or tab or 'overview'}.html.j2"))


def _console(tab: str, template: str, visitor: Visitor, *, slug: str, **values: Any) -> Response:
    challenge = visitor.ask(challenges.get_challenge, slug)
    values = {"done": None, "undo": None, "secret": None, "tabs": TABS, "tab": tab, **values}
    return visitor.page(template, challenge=challenge, **values)


def only_the_challenge(visitor: CurrentVisitor, slug: Slug) -> Values:  # noqa: ARG001 (they say what the page is of)
    """The values of a page that shows nothing but the challenge itself."""
    return {}


def being_scored(number: int) -> str:
    """What is said once submissions have been queued for rescoring.

    >>> being_scored(1)
    '1 submission is being rescored.'
    """
    return f"{counted(number, 'submission')} {'is' if number == 1 else 'are'} being rescored."
