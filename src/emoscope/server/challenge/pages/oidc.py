"""Sign-in with an OpenID provider: redirects there and back."""

from dataclasses import astuple
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from emoscope.server.challenge.oidc import BACK, Journey, Provider
from emoscope.server.challenge.pages.visitors import CurrentVisitor
from emoscope.server.challenge.services.registration import token_of
from emoscope.server.errors import Invalid, NotFound, ServerError
from emoscope.server.sessions import JOURNEY_SECONDS

router = APIRouter(prefix="/sign-in/openid", include_in_schema=False)
_COOKIE = "emoscope-journey"
_PATH = "/sign-in/openid"
ShortQuery = Annotated[str, Query(max_length=4000)]


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise NotFound("this server has no OpenID provider")
    return provider


@router.get("")
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


@router.get("/back")
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
        token = token_of(visitor.store, identity, journey.slug, provider.name)
    except ServerError as problem:
        response = visitor.page("sign_in.html.j2", error=problem)
    else:
        to = f"/challenges/{journey.slug}" if journey.slug else "/challenges"
        response = visitor.signed_in_as(token, identity).go(to)
    response.delete_cookie(_COOKIE, path=_PATH)
    return response
