"""A team's page: its members, invitations, merges and tokens."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, ShortField, Visitor
from emoscope.server.challenge.services import challenges, teams, tokens
from emoscope.server.errors import ServerError

router = APIRouter(prefix="/challenges/{slug}/team", include_in_schema=False)


@router.get("")
def _team_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return _show(visitor, slug)


def _show(visitor: Visitor, slug: str, **values: Any) -> Response:
    return visitor.page(
        "team.html.j2",
        challenge=visitor.ask(challenges.get_challenge, slug),
        team=visitor.ask(teams.get_team, slug),
        tokens=visitor.ask(tokens.list_tokens, slug),
        **values,
    )


@router.post("/invite")
def invite(visitor: FormVisitor, slug: Slug) -> Response:
    """Create an invitation and show its link, once."""
    return _show(visitor, slug, invitation=visitor.ask(teams.invite, slug))


@router.post("/token")
def new_token(visitor: FormVisitor, slug: Slug) -> Response:
    """Create another token and show it, once."""
    try:
        return _show(visitor, slug, token=visitor.ask(tokens.issue_member_token, slug))
    except ServerError as error:
        return _show(visitor, slug, error=error)


@router.post("/token/{token_id}/revoke")
def revoke(visitor: FormVisitor, slug: Slug, token_id: Number) -> Response:
    """Revoke a token; revoking the session's own ends the session."""
    visitor.ask(tokens.revoke_token, token_id)
    if token_id == visitor.actor.token_id:
        return visitor.signed_out().go(f"/challenges/{slug}")
    return visitor.go(f"/challenges/{slug}/team")


@router.post("/merge")
def _offer_merge(visitor: FormVisitor, slug: Slug, team: ShortField = "") -> Response:
    return visitor.attempt(f"/challenges/{slug}/team", _show, teams.offer_merge, slug, team)


@router.post("/merge/{merge_id}")
def _answer_merge(
    visitor: FormVisitor, slug: Slug, merge_id: Number, accept: Annotated[bool, Form()] = False
) -> Response:
    answer = partial(teams.answer_merge, accept=accept)
    return visitor.attempt(f"/challenges/{slug}/team", _show, answer, slug, merge_id)
