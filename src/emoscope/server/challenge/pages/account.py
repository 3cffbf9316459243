"""Signing in and out, and joining a team."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import HTMLResponse, RedirectResponse, Response

from emoscope.server.challenge.api.access import OpenStore
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor
from emoscope.server.challenge.services import teams
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.errors import ChallengeError, Unauthenticated

router = APIRouter(include_in_schema=False)

Short = Annotated[str, Form(max_length=300)]


@router.get("/sign-in")
def sign_in_page(visitor: CurrentVisitor) -> HTMLResponse:
    """Where a token is typed in."""
    return visitor.page("sign_in.html.j2", here="challenges", error=None)


@router.post("/sign-in")
def sign_in(visitor: FormVisitor, store: OpenStore, token: Short = "") -> Response:
    """Begins a session. Every wrong token gets the same answer."""
    try:
        if not token.strip():
            raise Unauthenticated("the token is not valid")
        actor = authenticate(store, token.strip())
    except Unauthenticated as error:
        return visitor.page("sign_in.html.j2", status=401, here="challenges", error=str(error))
    return visitor.signed_in_as(actor).go("/challenges")


@router.post("/sign-out")
def sign_out(visitor: FormVisitor) -> RedirectResponse:
    """Ends the session."""
    return visitor.signed_out().go("/challenges")


@router.get("/join")
def join_page(visitor: CurrentVisitor) -> HTMLResponse:
    """Where an invitation is used. It stands behind a # in the link, so it is in no log."""
    return visitor.page("join.html.j2", here="challenges", error=None, filled={})


@router.post("/join")
def join(
    visitor: FormVisitor, store: OpenStore, invitation: Short = "", member: Short = "", email: Short = ""
) -> Response:
    """Makes a member and shows the token, once."""
    try:
        made = teams.join_team(store, visitor.actor, invitation.strip(), member=member, email=email.strip() or None)
        actor = authenticate(store, made.token)
    except ChallengeError as error:
        filled = {"invitation": invitation, "member": member, "email": email}
        return visitor.page("join.html.j2", status=error.status, here="challenges", error=str(error), filled=filled)
    return visitor.signed_in_as(actor).page("token.html.j2", status=201, here="challenges", made=made)
