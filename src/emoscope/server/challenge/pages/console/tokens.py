"""Tokens of a challenge: its organisers' and its members'."""

from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, Slug
from emoscope.server.challenge.pages.console.shell import console, console_router, refused
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, tokens
from emoscope.server.challenge.views import TokenView
from emoscope.server.errors import NotFound, ServerError

router = console_router("/tokens")


@router.get("")
def _page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return _show(visitor, slug)


def _show(visitor: Visitor, slug: str, **values: Any) -> Response:
    return console(visitor, slug, "tokens", tokens=visitor.ask(tokens.list_tokens, slug), **values)


@router.post("")
def _issue(visitor: FormVisitor, slug: Slug, name: ShortField = "") -> Response:
    """A token for another organiser of this challenge."""
    try:
        issued = visitor.ask(tokens.issue_organiser_token, name=name, slug=slug)
    except ServerError as error:
        return _show(visitor, slug, error=error, filled={"name": name})
    return _show(visitor, slug, done=f"This token of {name.strip()} is shown only now:", secret=issued.token)


@router.post("/{token_id}/revoke")
def _revoke(visitor: FormVisitor, slug: Slug, token_id: Number, confirm: ShortField = "") -> Response:
    """Make a token worthless, once the name of its owner was typed."""
    listed, here = visitor.ask(tokens.list_tokens, slug), f"/challenges/{slug}/organise/tokens"
    challenge = visitor.ask(challenges.get_challenge, slug)
    return revoke(
        visitor, listed, token_id, confirm, here, partial(_show, visitor, slug), challenge=challenge, back=here
    )


def revoke(
    visitor: Visitor,
    listed: list[TokenView],
    token_id: int,
    confirm: str,
    path: str,
    show: Callable[..., Response],
    **question: Any,
) -> Response:
    """Revoke one of the listed tokens, once the name of its owner was typed; `path` is where tokens are revoked."""
    token = next((one for one in listed if one.id == token_id), None)
    if token is None:
        raise NotFound("no such token")
    own = token_id == visitor.actor.token_id
    asked = visitor.must_confirm(
        confirm,
        token.name,
        title=f"Revoke the token of {token.name}?",
        text="It will not work any more, nor will sessions that were begun with it."
        + (" You are signed in with it." if own else ""),
        action=f"{path}/{token_id}/revoke",
        buttons=[("Revoke it", "", "", "danger")],
        **question,
    )
    if asked is not None:
        return asked
    if error := refused(visitor, tokens.revoke_token, token_id):
        return show(error=error)
    return visitor.go("/sign-in") if own else show(done=f"The token of {token.name} is revoked.")
