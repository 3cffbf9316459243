"""Sign-in and sign-out, joining a team, confirming an address, and replacing a lost token."""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Form, Path
from starlette.responses import Response

from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, registration, teams
from emoscope.server.challenge.services.one_time import check_link
from emoscope.server.errors import NotFound, Unauthenticated
from emoscope.server.http.forms import FormPage, Values, template

router = APIRouter(include_in_schema=False)
sign_in_page = FormPage(router, "/sign-in", template("sign_in.html.j2"))
join_page = FormPage(router, "/join", template("join.html.j2"))  # an invitation follows a #, so it appears in no log
recover_page = FormPage(router, "/recover", template("recover.html.j2"))
confirm_link = FormPage(router, "/confirm/{secret}", template("mail_link.html.j2"))
recover_link = FormPage(router, "/recover/{secret}", template("mail_link.html.j2"))
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
        visitor.ask(check_link, kind, secret)
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
