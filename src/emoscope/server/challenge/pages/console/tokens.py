"""The tokens of a challenge's organisers and members."""

from typing import Any

from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, Slug
from emoscope.server.challenge.pages.console.shell import console_page, console_router
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, tokens
from emoscope.server.challenge.views import TokenView
from emoscope.server.errors import NotFound
from emoscope.server.http.forms import Values

router = console_router("/tokens")
token_page = console_page(router, "", "tokens")


@token_page.page
def _tokens(visitor: CurrentVisitor, slug: Slug) -> Values:
    return {"tokens": visitor.ask(tokens.list_tokens, slug)}


@token_page.form("")
def _issue(visitor: FormVisitor, slug: Slug, name: ShortField = "") -> Values:
    """Create a token for another organiser of this challenge."""
    return issue(visitor, name, slug)


def issue(visitor: Visitor, name: str, slug: str | None = None) -> Values:
    """Create a token for an organiser, and show it once."""
    issued = visitor.ask(tokens.issue_organiser_token, name=name, slug=slug)
    return {"done": f"Copy {name.strip()}'s token now: it is shown only once.", "secret": issued.token}


@token_page.form("/{token_id}/revoke")
def _revoke(visitor: FormVisitor, slug: Slug, token_id: Number, confirm: ShortField = "") -> Values | Response:
    listed, challenge = visitor.ask(tokens.list_tokens, slug), visitor.ask(challenges.get_challenge, slug)
    back = f"/challenges/{slug}/organise/tokens"
    return revoke(visitor, listed, token_id, confirm, challenge=challenge, back=back)


def revoke(visitor: Visitor, listed: list[TokenView], token_id: int, confirm: str, **page: Any) -> Values | Response:
    """Revoke one of the listed tokens, once its owner's name was typed."""
    token = next((token for token in listed if token.id == token_id), None)
    if token is None:
        raise NotFound("no such token")
    own = token_id == visitor.actor.token_id
    visitor.must_confirm(
        confirm,
        token.name,
        title=f"Revoke {token.name}'s token?",
        text="The token and all sessions started with it stop working."
        + (" You are signed in with it." if own else ""),
        button="Revoke",
        **page,
    )
    visitor.ask(tokens.revoke_token, token_id)
    return visitor.go("/sign-in") if own else {"done": f"{token.name}'s token is revoked."}
