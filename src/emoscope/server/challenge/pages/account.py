"""Sign-in and sign-out, joining a team, confirming an address, and replacing a lost token."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Form, Path
from starlette.responses import Response

from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, registration, teams
from emoscope.server.challenge.services.one_time import check_link
from emoscope.server.challenge.views import Registered
from emoscope.server.errors import NotFound, ServerError, Unauthenticated

router = APIRouter(include_in_schema=False)
Secret = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]


@router.get("/sign-in")
def _sign_in_page(visitor: CurrentVisitor) -> Response:
    return visitor.page("sign_in.html.j2")


@router.post("/sign-in")
def sign_in(visitor: FormVisitor, token: ShortField = "") -> Response:
    """Start a session; every invalid token gets the same error."""
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
    """The form for an invitation; in its link it follows a #, so it appears in no log."""
    return visitor.page("join.html.j2", filled={})


@router.post("/join")
def join(
    visitor: FormVisitor, invitation: ShortField = "", member: ShortField = "", email: ShortField = ""
) -> Response:
    """Add a member and show their token once."""
    try:
        with visitor.gate.registering(visitor.actor):
            joined = visitor.ask(
                teams.join_team, invitation.strip(), member=member, email=email, identity=visitor.identity
            )
    except ServerError as error:
        filled = {"invitation": invitation, "member": member, "email": email}
        return visitor.page("join.html.j2", error=error, filled=filled)
    return visitor.signed_in_with(joined.token).page("token.html.j2", status=201, registered=joined)


@router.post("/join/check", status_code=204)
def check_invitation(visitor: FormVisitor, invitation: ShortField = "") -> None:
    """Tell the page whether the invitation in its link still works."""
    visitor.ask(teams.check_invitation, invitation.strip())


@router.get("/confirm/{secret}")
def _confirm_page(visitor: CurrentVisitor, secret: Secret) -> Response:
    return _show_link(visitor, "confirm", secret)


def _show_link(visitor: Visitor, kind: str, secret: str, error: ServerError | None = None) -> Response:
    """The page behind a mailed link, with a button while the link works: programs that follow links do not use it."""
    try:
        visitor.ask(check_link, kind, secret)
    except NotFound as invalid:
        return visitor.page("mail_link.html.j2", error=invalid, kind=kind, secret=None)
    return visitor.page("mail_link.html.j2", error=error, kind=kind, secret=secret)


@router.post("/confirm/{secret}")
def _confirm(visitor: FormVisitor, secret: Secret) -> Response:
    return _use_link(visitor, "confirm", registration.confirm, secret)


def _use_link(visitor: Visitor, kind: str, service: Callable[..., Registered], secret: str) -> Response:
    """Do what a mailed link is for, and show the new token once."""
    try:
        registered = visitor.ask(service, secret)
    except ServerError as error:
        return _show_link(visitor, kind, secret, error)
    return visitor.signed_in_with(registered.token).page("token.html.j2", status=201, registered=registered)


@router.get("/recover")
def _recover_page(visitor: CurrentVisitor) -> Response:
    return visitor.page("recover.html.j2", challenges=visitor.ask(challenges.list_challenges), filled={})


@router.post("/recover")
def ask_for_token(
    visitor: FormVisitor, later: BackgroundTasks, challenge: ShortField = "", email: ShortField = ""
) -> Response:
    """Mail a link for a new token; the page is the same whether or not a member has this address."""
    values: dict[str, Any] = {"challenges": visitor.ask(challenges.list_challenges)}
    values["filled"] = {"challenge": challenge, "email": email}
    try:
        visitor.ask(registration.send_recovery, challenge, visitor.gate, email, later.add_task)
    except ServerError as error:
        return visitor.page("recover.html.j2", error=error, **values)
    return visitor.page("recover.html.j2", sent=email, **values)


@router.get("/recover/{secret}")
def _new_token_page(visitor: CurrentVisitor, secret: Secret) -> Response:
    return _show_link(visitor, "recover", secret)


@router.post("/recover/{secret}")
def _new_token(visitor: FormVisitor, secret: Secret, keep: Annotated[bool, Form()] = False) -> Response:
    return _use_link(visitor, "recover", partial(registration.recover, revoke=not keep), secret)
