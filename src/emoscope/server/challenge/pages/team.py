"""The pages of a team: its members, invitations, merges and tokens."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import HTMLResponse, Response

from emoscope.server.challenge.api.access import Number, OpenStore, Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Visitor
from emoscope.server.challenge.services import challenges, merging, teams, tokens
from emoscope.server.challenge.services.views import Issued
from emoscope.server.errors import ChallengeError
from emoscope.server.store import Store

router = APIRouter(prefix="/challenges/{slug}/team", include_in_schema=False)


@router.get("")
def team_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug) -> HTMLResponse:
    """The own team."""
    return _show(visitor, store, slug)


def _show(
    visitor: Visitor,
    store: Store,
    slug: str,
    *,
    error: ChallengeError | None = None,
    invitation: Issued | None = None,
    token: Issued | None = None,
) -> HTMLResponse:
    return visitor.page(
        "team.html.j2",
        status=error.status if error else 200,
        here="challenges",
        challenge=challenges.get_challenge(store, visitor.actor, slug),
        team=teams.get_team(store, visitor.actor, slug),
        tokens=tokens.list_tokens(store, visitor.actor, slug),
        error=error,
        invitation=invitation,
        token=token,
    )


@router.post("/invite")
def invite(visitor: FormVisitor, store: OpenStore, slug: Slug) -> HTMLResponse:
    """Makes an invitation and shows its link, once."""
    return _show(visitor, store, slug, invitation=teams.invite(store, visitor.actor, slug))


@router.post("/token")
def new_token(visitor: FormVisitor, store: OpenStore, slug: Slug) -> HTMLResponse:
    """Makes another token and shows it, once."""
    try:
        return _show(visitor, store, slug, token=tokens.issue_member_token(store, visitor.actor, slug))
    except ChallengeError as error:
        return _show(visitor, store, slug, error=error)


@router.post("/token/{token_id}/revoke")
def revoke(visitor: FormVisitor, store: OpenStore, slug: Slug, token_id: Number) -> Response:
    """Revokes a token; the one of this session ends it."""
    tokens.revoke_token(store, visitor.actor, token_id)
    if token_id == visitor.actor.token_id:
        return visitor.signed_out().go(f"/challenges/{slug}")
    return visitor.go(f"/challenges/{slug}/team")


@router.post("/merge")
def offer_merge(
    visitor: FormVisitor, store: OpenStore, slug: Slug, team: Annotated[str, Form(max_length=300)] = ""
) -> Response:
    """Offers another team to merge."""
    try:
        merging.offer_merge(store, visitor.actor, slug, team)
    except ChallengeError as error:
        return _show(visitor, store, slug, error=error)
    return visitor.go(f"/challenges/{slug}/team")


@router.post("/merge/{merge_id}")
def answer_merge(
    visitor: FormVisitor, store: OpenStore, slug: Slug, merge_id: Number, accept: Annotated[bool, Form()] = False
) -> Response:
    """Accepts or declines an offer."""
    try:
        merging.answer_merge(store, visitor.actor, slug, merge_id, accept=accept)
    except ChallengeError as error:
        return _show(visitor, store, slug, error=error)
    return visitor.go(f"/challenges/{slug}/team")
