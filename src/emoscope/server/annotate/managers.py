"""Signing in to the managers' desk: a link with a token, then a session cookie, and forms with a CSRF secret."""

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Form, Request
from starlette.responses import RedirectResponse, Response

from emoscope.core.errors import EmoscopeError
from emoscope.server.annotate.desk import Desk
from emoscope.server.annotate.links import link_token
from emoscope.server.annotate.overview import Overview, Overviews
from emoscope.server.challenge.pages.sessions import BrowserSession, Sessions
from emoscope.server.challenge.services.tokens import end_session, session_ended
from emoscope.server.errors import ServerError
from emoscope.server.http.problems import Problem, running
from emoscope.server.http.rendering import page
from emoscope.server.http.security import is_cross_site
from emoscope.server.store import Store
from emoscope.server.store.models import Annotator

HOME = "/annotate/desk"


class ManagerDesk:
    """What the managers' pages share."""

    def __init__(self, desk: Desk, *, https: bool) -> None:
        self.desk = desk
        self.overviews = Overviews(desk.store, desk)
        # Its own key, so that a challenge's cookie is not valid here.
        self.sessions = Sessions(hmac.digest(desk.key, b"annotation desk", "sha256"), https=https)
        self.sessions.cookie = f"{self.sessions.cookie}-desk"

    def link(self, annotator: Annotator) -> str:
        """The token of an annotator's link."""
        return link_token(self.desk.key, annotator.id, annotator.link)


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

    def page(self, template: str, *, error: EmoscopeError | None = None, **values: Any) -> Response:
        """A page, with the status of the error, if any."""
        status = 200 if error is None else error.status if isinstance(error, ServerError) else 422
        values.setdefault("overview", self.overview())
        return page(template, status=status, manager=self, error=error, **values)

    def leave(self) -> None:
        """End the session; copies of its cookie are invalid, too."""
        end_session(self.store, self.session.id, datetime.fromtimestamp(self.session.expires, UTC))

    def attempt(self, act: Callable[[], object], then: str, show: Callable[[EmoscopeError], Response]) -> Response:
        """Carry out what a form asks and redirect; on an error, show the page again with the message."""
        try:
            act()
        except EmoscopeError as error:
            return show(error)
        return RedirectResponse(then, 303)


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
    session = place.sessions.decoded(request.cookies.get(place.sessions.cookie, ""))
    current = session is not None and session.token_id == place.desk.manager_link() + 1
    if session is None or not current or session_ended(place.desk.store, session.id):
        raise Problem(303, "signed-out", "open the managers' link, or enter its token", headers={"Location": HOME})
    base = (request.app.state.settings.public_url or str(request.base_url)).rstrip("/")
    return Manager(place, session, base)


SignedIn = Annotated[Manager, Depends(manager_of)]


def _from_own_form(request: Request, manager: SignedIn, csrf: Annotated[str, Form(max_length=200)] = "") -> Manager:
    if is_cross_site(request) or not hmac.compare_digest(csrf.encode("utf-8", "replace"), manager.csrf.encode()):
        raise Problem(403, "foreign-form", "this form was not sent from the desk; reload the page and try again")
    return manager


OwnForm = Annotated[Manager, Depends(_from_own_form)]
