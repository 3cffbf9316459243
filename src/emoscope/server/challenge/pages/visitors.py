"""The visitor of a page, and the check that a form comes from their own browser."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Form, Request
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from emoscope.server.challenge.dependencies import Caller, Gate, OpenGate, OpenStore
from emoscope.server.challenge.oidc import Provider
from emoscope.server.challenge.services.actor import PUBLIC
from emoscope.server.challenge.services.applicants import Identity
from emoscope.server.challenge.services.tokens import actor_of, authenticate
from emoscope.server.challenge.views import Registered
from emoscope.server.errors import ServerError, Unauthenticated
from emoscope.server.http.forms import must_confirm
from emoscope.server.http.rendering import page
from emoscope.server.sessions import BrowserSession, Sessions

Service = Callable[..., object]
ShortField = Annotated[str, Form(max_length=300)]


@dataclass(frozen=True, slots=True)
class Visitor(Caller):
    """A person at a browser."""

    session: BrowserSession
    sessions: Sessions
    fresh: bool  # the browser does not have this session's cookie yet
    gate: Gate
    path: str  # of this request
    provider: str | None = None  # the name of the OpenID provider, if there is one

    @property
    def csrf(self) -> str:
        """The CSRF token of the visitor's forms."""
        return self.sessions.form_secret(self.session)

    @property
    def signed_in(self) -> bool:
        """Whether the visitor has signed in."""
        return self.actor.role != "public"

    def page(self, template: str, *, error: ServerError | None = None, status: int = 200, **values: Any) -> Response:
        """A page for this visitor; with an error it has the error's status."""
        values |= {"visitor": self, "actor": self.actor, "base": self.gate.base, "error": error, "here": "challenges"}
        values |= {"provider": self.provider, "mails": self.gate.mailer is not None}
        return self._with_cookie(page(template, status=error.status if error else status, **values))

    def go(self, path: str) -> Response:
        """Redirect to another page after a form."""
        return self._with_cookie(RedirectResponse(path, 303))

    def must_confirm(self, typed: str, expected: str, *, button: str = "", **values: Any) -> None:
        """Ask for a name to be typed before something that cannot be undone."""
        values = {"action": self.path, "buttons": [(button, "", "", "danger")], "challenge": None, **values}
        must_confirm(partial(self.page, "confirm.html.j2"), typed, expected, **values)

    def _with_cookie(self, response: Response) -> Response:
        if self.fresh:
            self.sessions.write(response, self.session)
        return response

    def signed_in_with(self, token: str | None) -> "Visitor":
        """The visitor in a new session with the rights of a token, or of the public without one."""
        actor = authenticate(self.store, token)
        return replace(self, actor=actor, session=self.sessions.begin(actor.token_id or 0), fresh=True)

    def welcome(self, registered: Registered) -> Response:
        """Sign a new member in, and show their token once."""
        return self.signed_in_with(registered.token).page("token.html.j2", status=201, registered=registered)

    def signed_in_as(self, token_id: int | None, identity: Identity) -> "Visitor":
        """The visitor in a new session after signing in with a provider, with a token's rights if they have one."""
        actor = PUBLIC if token_id is None else actor_of(self.store, token_id)
        session = self.sessions.begin(token_id or 0, [identity.subject, identity.email, identity.name])
        return replace(self, actor=actor, session=session, fresh=True)

    def signed_out(self) -> "Visitor":
        """The visitor in a new, anonymous session; the old session's cookie no longer works."""
        self.sessions.end(self.session)
        return self.signed_in_with(None)

    @property
    def identity(self) -> Identity | None:
        """The visitor's identity at the OpenID provider, if they signed in with it."""
        return None if self.session.identity is None else Identity(*self.session.identity)


def _visitor(request: Request, store: OpenStore, gate: OpenGate) -> Visitor:
    sessions: Sessions = request.app.state.sessions
    provider: Provider | None = request.app.state.provider
    session = sessions.current(request)
    visitor = Visitor(
        store,
        PUBLIC,
        session or sessions.begin(),
        sessions,
        fresh=session is None,
        gate=gate,
        path=request.url.path,
        provider=None if provider is None else provider.name,
    )
    if session is None or not session.token_id:
        return visitor
    try:
        return replace(visitor, actor=actor_of(store, session.token_id))
    except Unauthenticated:  # the token was revoked
        return visitor.signed_in_with(None)


CurrentVisitor = Annotated[Visitor, Depends(_visitor)]


def _own_form(request: Request, visitor: CurrentVisitor, csrf: Annotated[str, Form(max_length=200)] = "") -> Visitor:
    visitor.sessions.check_form(request, visitor.session, csrf)
    return visitor


async def _whole_form(request: Request) -> FormData:
    return await request.form()


# A form whose fields depend on the challenge.
WholeForm = Annotated[FormData, Depends(_whole_form)]
# The visitor, if the form came from one of our pages in their own browser.
FormVisitor = Annotated[Visitor, Depends(_own_form)]
