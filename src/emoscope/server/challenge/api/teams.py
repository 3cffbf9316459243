"""Teams: registration, invitations, merges, tokens."""

from fastapi import APIRouter, BackgroundTasks
from starlette.responses import JSONResponse

from emoscope.server.challenge.api import schemas
from emoscope.server.challenge.dependencies import NO_TOKEN_NEEDED, AnyCaller, Number, OpenGate, Slug, TokenCaller
from emoscope.server.challenge.services import merges, registration, teams, tokens
from emoscope.server.challenge.views import Issued, MailSent, MergeView, Registered, TeamView, TokenView
from emoscope.server.http.problems import responses

router = APIRouter(prefix="/v1", tags=["teams"], responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503))


@router.post(
    "/challenges/{slug}/teams",
    summary="Register a team",
    status_code=201,
    response_model=Registered,
    responses={202: {"model": MailSent, "description": "A link was mailed; following it registers the team"}},
    openapi_extra=NO_TOKEN_NEEDED,
)
def register(caller: AnyCaller, gate: OpenGate, slug: Slug, body: schemas.RegisterIn) -> JSONResponse:
    """Makes a team with its first member. The token is shown this once."""
    with gate.registering(caller.actor):
        made = caller.ask(registration.register, slug, gate, **body.model_dump())
    return JSONResponse(made.as_dict(), 202 if isinstance(made, MailSent) else 201)


@router.post("/registrations", summary="Confirm an address", status_code=201, openapi_extra=NO_TOKEN_NEEDED)
def confirm(caller: AnyCaller, body: schemas.LinkIn) -> Registered:
    """Registers the team of a mailed link. The token is shown this once."""
    return caller.ask(registration.confirm, body.link)


@router.post("/challenges/{slug}/recovery", summary="Lost a token", status_code=202, openapi_extra=NO_TOKEN_NEEDED)
def ask_for_token(
    caller: AnyCaller, gate: OpenGate, slug: Slug, body: schemas.RecoveryIn, later: BackgroundTasks
) -> schemas.RecoveryOut:
    """Mails a link for a new token to the member with this address; whether there is one is not told."""
    caller.ask(registration.send_recovery, slug, gate, body.email, later.add_task)
    return schemas.RecoveryOut()


@router.post("/recoveries", summary="Replace a lost token", status_code=201, openapi_extra=NO_TOKEN_NEEDED)
def recover(caller: AnyCaller, body: schemas.RecoverIn) -> Registered:
    """A new token for the member of a mailed link; it is shown this once, and the old ones are revoked."""
    return caller.ask(registration.recover, body.link, revoke=not body.keep)


@router.get("/challenges/{slug}/teams", summary="All teams")
def list_all(caller: TokenCaller, slug: Slug) -> list[TeamView]:
    """The teams, for organisers."""
    return caller.ask(teams.list_teams, slug)


@router.get("/challenges/{slug}/team", summary="The own team")
def own(caller: TokenCaller, slug: Slug) -> TeamView:
    """The team of the token, with its members and merge offers."""
    return caller.ask(teams.get_team, slug)


@router.get("/challenges/{slug}/teams/{team_id}", summary="One team")
def one(caller: TokenCaller, slug: Slug, team_id: Number) -> TeamView:
    """A team, for its members and organisers."""
    return caller.ask(teams.get_team, slug, team_id)


@router.delete("/challenges/{slug}/teams/{team_id}", summary="Delete a team", status_code=204)
def delete(caller: TokenCaller, slug: Slug, team_id: Number) -> None:
    """Takes a team out; it can be restored."""
    caller.ask(teams.delete_team, slug, team_id)


@router.post("/challenges/{slug}/teams/{team_id}/restore", summary="Restore a team", status_code=204)
def restore(caller: TokenCaller, slug: Slug, team_id: Number) -> None:
    """Brings a deleted team back."""
    caller.ask(teams.restore_team, slug, team_id)


@router.post("/challenges/{slug}/teams/{team_id}/approve", summary="Let a team in")
def approve(caller: TokenCaller, slug: Slug, team_id: Number) -> TeamView:
    """Lets a team in that waits for approval, for organisers."""
    return caller.ask(teams.approve_team, slug, team_id)


@router.post("/challenges/{slug}/registration-invitations", summary="Invite a team", status_code=201)
def invite_team(caller: TokenCaller, gate: OpenGate, slug: Slug, body: schemas.InviteTeamIn) -> Issued:
    """An invitation to register one team, for organisers; shown this once, and mailed if there is an address."""
    return caller.ask(registration.invite_team, slug, gate, body.email)


@router.post("/challenges/{slug}/invitations", summary="Invite a member", status_code=201)
def invite(caller: TokenCaller, slug: Slug) -> Issued:
    """An invitation into the own team, good for one person; shown this once."""
    return caller.ask(teams.invite, slug)


@router.post("/invitations/join", summary="Join a team", status_code=201, openapi_extra=NO_TOKEN_NEEDED)
def join(caller: AnyCaller, gate: OpenGate, body: schemas.JoinIn) -> Registered:
    """Makes a member of the team that invited. The token is shown this once."""
    with gate.registering(caller.actor):
        return caller.ask(teams.join_team, body.invitation, member=body.member, email=body.email)


@router.post("/challenges/{slug}/merges", summary="Offer a merge", status_code=201)
def offer_merge(caller: TokenCaller, slug: Slug, body: schemas.MergeIn) -> MergeView:
    """Offers another team to become one with the own team; it has to accept."""
    return caller.ask(merges.offer_merge, slug, body.team)


@router.post("/challenges/{slug}/merges/{merge_id}", summary="Answer a merge")
def answer_merge(caller: TokenCaller, slug: Slug, merge_id: Number, body: schemas.AnswerIn) -> MergeView:
    """Accepts or declines an offered merge."""
    return caller.ask(merges.answer_merge, slug, merge_id, accept=body.accept)


@router.post("/challenges/{slug}/tokens", summary="Another token", status_code=201)
def issue(caller: TokenCaller, slug: Slug) -> Issued:
    """Another token for oneself, shown this once."""
    return caller.ask(tokens.issue_member_token, slug)


@router.get("/challenges/{slug}/tokens", summary="The tokens")
def list_tokens(caller: TokenCaller, slug: Slug) -> list[TokenView]:
    """The tokens one may see, without their secrets."""
    return caller.ask(tokens.list_tokens, slug)


@router.delete("/tokens/{token_id}", summary="Revoke a token", status_code=204)
def revoke(caller: TokenCaller, token_id: Number) -> None:
    """Makes a token worthless, and every session begun with it."""
    caller.ask(tokens.revoke_token, token_id)
