"""The tokens of a challenge's organisers and members."""

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
    """Create a token for another organiser of this challenge."""
    try:
        issued = visitor.ask(tokens.issue_organiser_token, name=name, slug=slug)
    except ServerError as error:
        return _show(visitor, slug, error=error, filled={"name": name})
    return _show(visitor, slug, done=f"Copy {name.strip()}'s token now: it is shown only once.", secret=issued.token)


@router.post("/{token_id}/revoke")
def _revoke(visitor: FormVisitor, slug: Slug, token_id: Number, confirm: ShortField = "") -> Response:
    listed, challenge = visitor.ask(tokens.list_tokens, slug), visitor.ask(challenges.get_challenge, slug)
    show, back = partial(_show, visitor, slug), f"/challenges/{slug}/organise/tokens"
    return revoke(visitor, listed, token_id, confirm, show, challenge=challenge, back=back)


def revoke(
    visitor: Visitor, listed: list[TokenView], token_id: int, confirm: str, show: Callable[..., Response], **page: Any
) -> Response:
    """Revoke one of the listed tokens, once its owner's name was typed."""
    token = next((token for token in listed if token.id == token_id), None)
    if token is None:
        raise NotFound("no such token")
    own = token_id == visitor.actor.token_id
    asked = visitor.must_confirm(
        confirm,
        token.name,
        title=f"Revoke {token.name}'s token?",
        text="The token and all sessions started with it stop working."
        + (" You are signed in with it." if own else ""),
        button="Revoke",
        **page,
    )
    if asked is not None:
        return asked
    if error := refused(visitor, tokens.revoke_token, token_id):
        return show(error=error)
    return visitor.go("/sign-in") if own else show(done=f"{token.name}'s token is revoked.")
