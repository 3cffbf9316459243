"""Teams: registration, invitations, merges, tokens."""

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from emoscope.server.challenge.api import schemas
from emoscope.server.challenge.dependencies import Number, OpenStore, Slug, TokenActor, listed, shown
from emoscope.server.challenge.services import merging, teams, tokens
from emoscope.server.challenge.views import Issued, MergeView, Registered, TeamView, TokenView
from emoscope.server.http.problems import responses

router = APIRouter(prefix="/v1", tags=["teams"], responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503))


@router.post("/challenges/{slug}/teams", summary="Register a team", status_code=201, response_model=Registered)
def register(store: OpenStore, actor: TokenActor, slug: Slug, body: schemas.RegisterIn) -> JSONResponse:
    """Makes a team with its first member. The token is shown this once."""
    return shown(teams.register_team(store, actor, slug, team=body.team, member=body.member, email=body.email), 201)


@router.get("/challenges/{slug}/teams", summary="All teams", response_model=list[TeamView])
def list_all(store: OpenStore, actor: TokenActor, slug: Slug) -> JSONResponse:
    """The teams, for organisers."""
    return listed(teams.list_teams(store, actor, slug))


@router.get("/challenges/{slug}/team", summary="The own team", response_model=TeamView)
def own(store: OpenStore, actor: TokenActor, slug: Slug) -> JSONResponse:
    """The team of the token, with its members and merge offers."""
    return shown(teams.get_team(store, actor, slug))


@router.get("/challenges/{slug}/teams/{team_id}", summary="One team", response_model=TeamView)
def one(store: OpenStore, actor: TokenActor, slug: Slug, team_id: Number) -> JSONResponse:
    """A team, for its members and organisers."""
    return shown(teams.get_team(store, actor, slug, team_id))


@router.delete("/challenges/{slug}/teams/{team_id}", summary="Delete a team", status_code=204)
def delete(store: OpenStore, actor: TokenActor, slug: Slug, team_id: Number) -> Response:
    """Takes a team out; it can be restored."""
    teams.delete_team(store, actor, slug, team_id)
    return Response(status_code=204)


@router.post("/challenges/{slug}/teams/{team_id}/restore", summary="Restore a team", status_code=204)
def restore(store: OpenStore, actor: TokenActor, slug: Slug, team_id: Number) -> Response:
    """Brings a deleted team back."""
    teams.restore_team(store, actor, slug, team_id)
    return Response(status_code=204)


@router.post("/challenges/{slug}/invitations", summary="Invite a member", status_code=201, response_model=Issued)
def invite(store: OpenStore, actor: TokenActor, slug: Slug) -> JSONResponse:
    """An invitation into the own team, good for one person; shown this once."""
    return shown(teams.invite(store, actor, slug), 201)


@router.post("/invitations/join", summary="Join a team", status_code=201, response_model=Registered)
def join(store: OpenStore, actor: TokenActor, body: schemas.JoinIn) -> JSONResponse:
    """Makes a member of the team that invited. The token is shown this once."""
    return shown(teams.join_team(store, actor, body.invitation, member=body.member, email=body.email), 201)


@router.post("/challenges/{slug}/merges", summary="Offer a merge", status_code=201, response_model=MergeView)
def offer_merge(store: OpenStore, actor: TokenActor, slug: Slug, body: schemas.MergeIn) -> JSONResponse:
    """Offers another team to become one with the own team; it has to accept."""
    return shown(merging.offer_merge(store, actor, slug, body.team), 201)


@router.post("/challenges/{slug}/merges/{merge_id}", summary="Answer a merge", response_model=MergeView)
def answer_merge(
    store: OpenStore, actor: TokenActor, slug: Slug, merge_id: Number, body: schemas.AnswerIn
) -> JSONResponse:
    """Accepts or declines an offered merge."""
    return shown(merging.answer_merge(store, actor, slug, merge_id, accept=body.accept))


@router.post("/challenges/{slug}/tokens", summary="Another token", status_code=201, response_model=Issued)
def issue(store: OpenStore, actor: TokenActor, slug: Slug) -> JSONResponse:
    """Another token for oneself, shown this once."""
    return shown(tokens.issue_member_token(store, actor, slug), 201)


@router.get("/challenges/{slug}/tokens", summary="The tokens", response_model=list[TokenView])
def list_tokens(store: OpenStore, actor: TokenActor, slug: Slug) -> JSONResponse:
    """The tokens one may see, without their secrets."""
    return listed(tokens.list_tokens(store, actor, slug))


@router.delete("/tokens/{token_id}", summary="Revoke a token", status_code=204)
def revoke(store: OpenStore, actor: TokenActor, token_id: Number) -> Response:
    """Makes a token worthless, and every session begun with it."""
    tokens.revoke_token(store, actor, token_id)
    return Response(status_code=204)
