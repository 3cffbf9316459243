"""A team's page: its members, invitations, merges and tokens."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, OpenStore, Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, merging, teams, tokens
from emoscope.server.challenge.views import Issued
from emoscope.server.errors import ServerError
from emoscope.server.store import Store

router = APIRouter(prefix="/challenges/{slug}/team", include_in_schema=False)


@router.get("")
def _team_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug) -> Response:
    return _show(visitor, store, slug)


def _show(
    visitor: Visitor,
    store: Store,
    slug: str,
    *,
    error: ServerError | None = None,
    invitation: Issued | None = None,
    token: Issued | None = None,
) -> Response:
    return visitor.page(
        "team.html.j2",
        error=error,
        challenge=challenges.get_challenge(store, visitor.actor, slug),
        team=teams.get_team(store, visitor.actor, slug),
        tokens=tokens.list_tokens(store, visitor.actor, slug),
        invitation=invitation,
        token=token,
    )


@router.post("/invite")
def invite(visitor: FormVisitor, store: OpenStore, slug: Slug) -> Response:
    """Create an invitation and show its link, once."""
    return _show(visitor, store, slug, invitation=teams.invite(store, visitor.actor, slug))


@router.post("/token")
def new_token(visitor: FormVisitor, store: OpenStore, slug: Slug) -> Response:
    """Create another token and show it, once."""
    try:
        return _show(visitor, store, slug, token=tokens.issue_member_token(store, visitor.actor, slug))
    except ServerError as error:
        return _show(visitor, store, slug, error=error)


@router.post("/token/{token_id}/revoke")
def revoke(visitor: FormVisitor, store: OpenStore, slug: Slug, token_id: Number) -> Response:
    """Revoke a token; revoking the session's own ends the session."""
    tokens.revoke_token(store, visitor.actor, token_id)
    if token_id == visitor.actor.token_id:
        return visitor.signed_out().go(f"/challenges/{slug}")
    return visitor.go(f"/challenges/{slug}/team")


@router.post("/merge")
def _offer_merge(visitor: FormVisitor, store: OpenStore, slug: Slug, team: ShortField = "") -> Response:
    action = partial(merging.offer_merge, store, visitor.actor, slug, team)
    return visitor.attempt(action, f"/challenges/{slug}/team", partial(_show, visitor, store, slug))


@router.post("/merge/{merge_id}")
def _answer_merge(
    visitor: FormVisitor, store: OpenStore, slug: Slug, merge_id: Number, accept: Annotated[bool, Form()] = False
) -> Response:
    action = partial(merging.answer_merge, store, visitor.actor, slug, merge_id, accept=accept)
    return visitor.attempt(action, f"/challenges/{slug}/team", partial(_show, visitor, store, slug))
