"""Who looks at a page, and whether a form they send is their own."""

import hmac
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse

from emoscope.server.challenge.api.access import OpenStore
from emoscope.server.challenge.pages.sessions import Session, Sessions
from emoscope.server.challenge.services.actor import PUBLIC, Actor
from emoscope.server.challenge.services.tokens import actor_of
from emoscope.server.errors import Unauthenticated
from emoscope.server.http.problems import Problem
from emoscope.server.http.rendering import page


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person at a browser."""

    actor: Actor
    session: Session
    sessions: Sessions
    base: str  # the server's address, for links that are copied
    fresh: bool  # the browser has yet to be given this session

    @property
    def csrf(self) -> str:
        """What the visitor's forms carry."""
        return self.sessions.form_secret(self.session)

    @property
    def signed_in(self) -> bool:
        """Whether the visitor has signed in."""
        return self.actor.role != "public"

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A page for this visitor."""
        made = page(template, status=status, visitor=self, actor=self.actor, base=self.base, **values)
        if self.fresh:
            self.sessions.write(made, self.session)
        return made

    def signed_in_as(self, actor: Actor) -> "Visitor":
        """The visitor with a session of their own, its id new."""
        return replace(self, actor=actor, session=self.sessions.begin(actor.token_id or 0), fresh=True)

    def signed_out(self) -> "Visitor":
        """The visitor as one of the public."""
        return replace(self, actor=PUBLIC, session=self.sessions.begin(), fresh=True)

    def go(self, path: str) -> RedirectResponse:
        """Send the browser to another of our pages, after a form."""
        response = RedirectResponse(path, 303)
        if self.fresh:
            self.sessions.write(response, self.session)
        return response


def _visitor(request: Request, store: OpenStore) -> Visitor:
    sessions: Sessions = request.app.state.sessions
    base = (request.app.state.settings.public_url or str(request.base_url)).rstrip("/")
    session = sessions.read(request)
    stranger = Visitor(PUBLIC, session or sessions.begin(), sessions, base, fresh=session is None)
    if session is None or not session.token_id:
        return stranger
    try:
        return replace(stranger, actor=actor_of(store, session.token_id))
    except Unauthenticated:  # the token was revoked
        return stranger.signed_out()


CurrentVisitor = Annotated[Visitor, Depends(_visitor)]


def _own_form(request: Request, visitor: CurrentVisitor, csrf: Annotated[str, Form(max_length=200)] = "") -> Visitor:
    """The visitor, if the form came from one of our pages in their own browser."""
    origin = request.headers.get("origin")
    foreign = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        foreign = True
    if foreign or not hmac.compare_digest(csrf.encode(errors="replace"), visitor.csrf.encode()):
        raise Problem(403, "foreign-form", "this form is out of date or came from another site; load the page again")
    return visitor


FormVisitor = Annotated[Visitor, Depends(_own_form)]
