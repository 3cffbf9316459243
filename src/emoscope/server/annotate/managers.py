"""Signing in to the managers' desk: a link with a token, then a session cookie, and forms with a CSRF secret."""

import hmac
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Form, Request
from starlette.responses import RedirectResponse, Response

from emoscope.server.annotate.desk import Desk
from emoscope.server.annotate.overview import Overview, Overviews
from emoscope.server.errors import ServerError
from emoscope.server.http.problems import Problem, running
from emoscope.server.http.rendering import page
from emoscope.server.sessions import BrowserSession, Sessions
from emoscope.server.store import Store

HOME = "/annotate/desk"


class ManagerDesk:
    """What the managers' pages share."""

    def __init__(self, desk: Desk, *, https: bool) -> None:
        self.desk = desk
        self.overviews = Overviews(desk)
        # Its own key, so that a challenge's cookie is not valid here.
        key = hmac.digest(desk.key, b"annotation desk", "sha256")
        self.sessions = Sessions(desk.store, key, https=https, name="-desk")


@dataclass(frozen=True, slots=True)
class Manager:
    """A signed-in manager."""

    place: ManagerDesk
    session: BrowserSession
    base: str

    @property
    def store(self) -> Store:
        """The store of the study."""
        return self.place.desk.store

    @property
    def csrf(self) -> str:
        """The secret of the manager's forms."""
        return self.place.sessions.form_secret(self.session)

    def overview(self) -> Overview:
        """The current overview of the study."""
        return self.place.overviews.now()

    def page(self, template: str, *, error: ServerError | None = None, **values: Any) -> Response:
        """A page, with the status of the error, if any."""
        values.setdefault("overview", self.overview())
        return page(template, status=error.status if error else 200, manager=self, error=error, **values)

    def go(self, path: str) -> Response:
        """Redirect to a page of the desk after a form."""
        return RedirectResponse(f"{HOME}{path}", 303)


def place_of(
    request: Request, desk: Annotated[Desk, Depends(running("annotation_desk", "the store is not open"))]
) -> Any:
    """The managers' desk of this server."""
    kept: ManagerDesk | None = getattr(request.app.state, "manager_desk", None)
    if kept is None or kept.desk is not desk:
        kept = request.app.state.manager_desk = ManagerDesk(desk, https=request.app.state.settings.https)
    return kept


Place = Annotated[ManagerDesk, Depends(place_of)]


def manager_of(request: Request, place: Place) -> Manager:
    """The manager whose cookie a request carries."""
    session = place.sessions.current(request)
    if session is None or session.token_id != place.desk.manager_link() + 1:
        raise Problem(303, "signed-out", "open the managers' link, or enter its token", headers={"Location": HOME})
    base = (request.app.state.settings.public_url or str(request.base_url)).rstrip("/")
    return Manager(place, session, base)


SignedIn = Annotated[Manager, Depends(manager_of)]


def _from_own_form(request: Request, manager: SignedIn, csrf: Annotated[str, Form(max_length=200)] = "") -> Manager:
    manager.place.sessions.check_form(request, manager.session, csrf)
    return manager


OwnForm = Annotated[Manager, Depends(_from_own_form)]
