"""Sign-in with a token or an OpenID provider, sign-out, joining a team, confirming an address, replacing a token."""

from dataclasses import astuple
from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Form, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from emoscope.server.challenge.oidc import BACK, Journey, Provider
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, registration, teams, tokens
from emoscope.server.errors import Invalid, NotFound, ServerError, Unauthenticated
from emoscope.server.http.forms import FormPage, Values, template
from emoscope.server.sessions import JOURNEY_SECONDS

router = APIRouter(include_in_schema=False)
sign_in_page = FormPage(router, "/sign-in", template("sign_in.html.j2"))
join_page = FormPage(router, "/join", template("join.html.j2"))  # an invitation follows a #, so it appears in no log
recover_page = FormPage(router, "/recover", template("recover.html.j2"))
confirm_link = FormPage(router, "/confirm/{secret}", template("mail_link.html.j2"))
recover_link = FormPage(router, "/recover/{secret}", template("mail_link.html.j2"))
_COOKIE = "emoscope-journey"
_PATH = "/sign-in/openid"
ShortQuery = Annotated[str, Query(max_length=4000)]
Secret = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]


@sign_in_page.page
@join_page.page
def _no_values(visitor: CurrentVisitor) -> Values:  # noqa: ARG001 (any visitor)
    return {}


@sign_in_page.form("/sign-in")
def sign_in(visitor: FormVisitor, token: ShortField = "") -> Response:
    """Start a session; every invalid token gets the same error."""
    if not token.strip():
        raise Unauthenticated("the token is not valid")
    return visitor.signed_in_with(token.strip()).go("/challenges")


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise NotFound("this server has no OpenID provider")
    return provider


@router.get(_PATH)
def _leave(request: Request, visitor: CurrentVisitor, challenge: Annotated[str, Query(max_length=64)] = "") -> Response:
    """Redirect to the provider; a cookie keeps what is needed afterwards."""
    try:
        address, journey = _provider(request).begin(f"{visitor.gate.base}{BACK}", challenge)
    except ServerError as error:
        return visitor.page("sign_in.html.j2", error=error)
    response = RedirectResponse(address, 303)
    secure = visitor.gate.base.startswith("https://")
    response.set_cookie(
        _COOKIE,
        visitor.sessions.sealed(astuple(journey)),
        max_age=JOURNEY_SECONDS,
        path=_PATH,
        secure=secure,
        httponly=True,
        samesite="lax",
    )
    return response


@router.get(BACK)
def _back(
    request: Request, visitor: CurrentVisitor, state: ShortQuery = "", code: ShortQuery = "", error: ShortQuery = ""
) -> Response:
    """Sign in a person who comes back, or let them register with the address their provider has verified."""
    provider = _provider(request)
    kept = visitor.sessions.opened(request.cookies.get(_COOKIE, ""))
    try:
        if kept is None or Journey(*kept).state != state or not code or error:
            raise Invalid(f"the sign-in with {provider.name} was not completed; try again")
        journey = Journey(*kept)
        identity = provider.finish(f"{visitor.gate.base}{BACK}", journey, code)
        token = registration.token_of(visitor.store, identity, journey.slug, provider.name)
    except ServerError as problem:
        response = visitor.page("sign_in.html.j2", error=problem)
    else:
        to = f"/challenges/{journey.slug}" if journey.slug else "/challenges"
        response = visitor.signed_in_as(token, identity).go(to)
    response.delete_cookie(_COOKIE, path=_PATH)
    return response


@router.post("/sign-out")
def _sign_out(visitor: FormVisitor) -> Response:
    return visitor.signed_out().go("/challenges")


@join_page.form("/join")
def join(
    visitor: FormVisitor, invitation: ShortField = "", member: ShortField = "", email: ShortField = ""
) -> Response:
    """Add a member and show their token once."""
    with visitor.gate.registering(visitor.actor):
        joined = visitor.ask(teams.join_team, invitation.strip(), member=member, email=email, identity=visitor.identity)
    return visitor.welcome(joined)


@router.post("/join/check", status_code=204)
def check_invitation(visitor: FormVisitor, invitation: ShortField = "") -> None:
    """Tell the page whether the invitation in its link still works."""
    visitor.ask(teams.check_invitation, invitation.strip())


@confirm_link.page
def _confirm_page(visitor: CurrentVisitor, secret: Secret) -> Values | Response:
    return _show_link(visitor, "confirm", secret)


def _show_link(visitor: Visitor, kind: str, secret: str) -> Values | Response:
    """The page behind a mailed link, with a button while the link works: programs that follow links do not use it."""
    try:
        visitor.ask(tokens.check_link, kind, secret)
    except NotFound as invalid:
        return visitor.page("mail_link.html.j2", error=invalid, kind=kind, secret=None)
    return {"kind": kind}


@confirm_link.form("/confirm/{secret}")
def _confirm(visitor: FormVisitor, secret: Secret) -> Response:
    return visitor.welcome(visitor.ask(registration.confirm, secret))


@recover_page.page
def _recover(visitor: CurrentVisitor) -> Values:
    return {"challenges": visitor.ask(challenges.list_challenges)}


@recover_page.form("/recover")
def ask_for_token(
    visitor: FormVisitor, later: BackgroundTasks, challenge: ShortField = "", email: ShortField = ""
) -> Values:
    """Mail a link for a new token; the page is the same whether or not a member has this address."""
    visitor.ask(registration.send_recovery, challenge, visitor.gate, email, later.add_task)
    return {"sent": email, "filled": {"challenge": challenge, "email": email}}


@recover_link.page
def _new_token_page(visitor: CurrentVisitor, secret: Secret) -> Values | Response:
    return _show_link(visitor, "recover", secret)


@recover_link.form("/recover/{secret}")
def _new_token(visitor: FormVisitor, secret: Secret, keep: Annotated[bool, Form()] = False) -> Response:
    return visitor.welcome(visitor.ask(registration.recover, secret, revoke=not keep))
