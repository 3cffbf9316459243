"""Signing in and out, and joining a team."""

from fastapi import APIRouter
from starlette.responses import Response

from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField
from emoscope.server.challenge.services import teams
from emoscope.server.errors import ServerError, Unauthenticated

router = APIRouter(include_in_schema=False)


@router.get("/sign-in")
def _sign_in_page(visitor: CurrentVisitor) -> Response:
    return visitor.page("sign_in.html.j2")


@router.post("/sign-in")
def sign_in(visitor: FormVisitor, token: ShortField = "") -> Response:
    """Start a session. Every wrong token gets the same answer."""
    try:
        if not token.strip():
            raise Unauthenticated("the token is not valid")
        return visitor.signed_in_with(token.strip()).go("/challenges")
    except Unauthenticated as error:
        return visitor.page("sign_in.html.j2", error=error)


@router.post("/sign-out")
def _sign_out(visitor: FormVisitor) -> Response:
    return visitor.signed_out().go("/challenges")


@router.get("/join")
def join_page(visitor: CurrentVisitor) -> Response:
    """The form for an invitation. The link carries it behind a #, so no log holds it."""
    return visitor.page("join.html.j2", filled={})


@router.post("/join")
def join(
    visitor: FormVisitor, invitation: ShortField = "", member: ShortField = "", email: ShortField = ""
) -> Response:
    """Add a member and show the token, once."""
    try:
        joined = visitor.ask(teams.join_team, invitation.strip(), member=member, email=email.strip() or None)
    except ServerError as error:
        filled = {"invitation": invitation, "member": member, "email": email}
        return visitor.page("join.html.j2", error=error, filled=filled)
    return visitor.signed_in_with(joined.token).page("token.html.j2", status=201, registered=joined)
