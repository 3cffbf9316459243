"""Teams: registration, invitations, merges, tokens."""

from fastapi import APIRouter, BackgroundTasks
from starlette.responses import JSONResponse

from emoscope.server.challenge.api import schemas
from emoscope.server.challenge.dependencies import NO_TOKEN_NEEDED, AnyCaller, Number, OpenGate, Slug, TokenCaller
from emoscope.server.challenge.services import merges, registration, teams, tokens
from emoscope.server.challenge.views import Issued, MailSent, MergeView, Registered, TeamView, TokenView
from emoscope.server.http.problems import CHANGING

router = APIRouter(prefix="/v1", tags=["teams"], responses=CHANGING)


@router.post(
    "/challenges/{slug}/teams",
    summary="Register a team",
    status_code=201,
    response_model=Registered,
    responses={202: {"model": MailSent, "description": "A confirmation link was mailed"}},
    openapi_extra=NO_TOKEN_NEEDED,
)
def register(caller: AnyCaller, gate: OpenGate, slug: Slug, body: schemas.RegisterIn) -> JSONResponse:
    """Registers a team with its first member. The token is shown only once."""
    with gate.registering(caller.actor):
        answer = caller.ask(registration.register, slug, gate, **body.model_dump())
    return JSONResponse(answer.as_dict(), 202 if isinstance(answer, MailSent) else 201)


@router.post("/registrations", summary="Confirm an address", status_code=201, openapi_extra=NO_TOKEN_NEEDED)
def confirm(caller: AnyCaller, body: schemas.LinkIn) -> Registered:
    """Registers the team of a mailed link. The token is shown only once."""
    return caller.ask(registration.confirm, body.link)


@router.post(
    "/challenges/{slug}/recovery", summary="Recover a lost token", status_code=202, openapi_extra=NO_TOKEN_NEEDED
)
def ask_for_token(
    caller: AnyCaller, gate: OpenGate, slug: Slug, body: schemas.RecoveryIn, later: BackgroundTasks
) -> schemas.RecoveryOut:
    """Mails a link for a new token to the member with this address; the response is the same if there is none."""
    caller.ask(registration.send_recovery, slug, gate, body.email, later.add_task)
    return schemas.RecoveryOut()


@router.post("/recoveries", summary="Replace a lost token", status_code=201, openapi_extra=NO_TOKEN_NEEDED)
def recover(caller: AnyCaller, body: schemas.RecoverIn) -> Registered:
    """Creates a token for the member of a mailed link and revokes the old ones. It is shown only once."""
    return caller.ask(registration.recover, body.link, revoke=not body.keep)


@router.get("/challenges/{slug}/teams", summary="All teams")
def list_all(caller: TokenCaller, slug: Slug) -> list[TeamView]:
    """Lists all teams, for organisers."""
    return caller.ask(teams.list_teams, slug)


@router.get("/challenges/{slug}/team", summary="Your team")
def own(caller: TokenCaller, slug: Slug) -> TeamView:
    """Your team, with its members and merge offers."""
    return caller.ask(teams.get_team, slug)


@router.get("/challenges/{slug}/teams/{team_id}", summary="One team")
def one(caller: TokenCaller, slug: Slug, team_id: Number) -> TeamView:
    """A team, for its members and the organisers."""
    return caller.ask(teams.get_team, slug, team_id)


@router.delete("/challenges/{slug}/teams/{team_id}", summary="Delete a team", status_code=204)
def delete(caller: TokenCaller, slug: Slug, team_id: Number) -> None:
    """Deletes a team; it can be restored."""
    caller.ask(teams.delete_team, slug, team_id)


@router.post("/challenges/{slug}/teams/{team_id}/restore", summary="Restore a team", status_code=204)
def restore(caller: TokenCaller, slug: Slug, team_id: Number) -> None:
    """Restores a deleted team."""
    caller.ask(teams.restore_team, slug, team_id)


@router.post("/challenges/{slug}/teams/{team_id}/approve", summary="Approve a team")
def approve(caller: TokenCaller, slug: Slug, team_id: Number) -> TeamView:
    """Approves a team that is waiting, for organisers."""
    return caller.ask(teams.approve_team, slug, team_id)


@router.post("/challenges/{slug}/registration-invitations", summary="Invite a team", status_code=201)
def invite_team(caller: TokenCaller, gate: OpenGate, slug: Slug, body: schemas.InviteTeamIn) -> Issued:
    """Creates an invitation for one team, for organisers; shown only once, and mailed if there is an address."""
    return caller.ask(registration.invite_team, slug, gate, body.email)


@router.post("/challenges/{slug}/invitations", summary="Invite a member", status_code=201)
def invite(caller: TokenCaller, slug: Slug) -> Issued:
    """Creates an invitation into your team, for one person; shown only once."""
    return caller.ask(teams.invite, slug)


@router.post("/invitations/join", summary="Join a team", status_code=201, openapi_extra=NO_TOKEN_NEEDED)
def join(caller: AnyCaller, gate: OpenGate, body: schemas.JoinIn) -> Registered:
    """Joins the team of an invitation. The token is shown only once."""
    with gate.registering(caller.actor):
        return caller.ask(teams.join_team, body.invitation, member=body.member, email=body.email)


@router.post("/challenges/{slug}/merges", summary="Offer a merge", status_code=201)
def offer_merge(caller: TokenCaller, slug: Slug, body: schemas.MergeIn) -> MergeView:
    """Offers to merge your team into another, which has to accept."""
    return caller.ask(merges.offer_merge, slug, body.team)


@router.post("/challenges/{slug}/merges/{merge_id}", summary="Answer a merge offer")
def answer_merge(caller: TokenCaller, slug: Slug, merge_id: Number, body: schemas.AnswerIn) -> MergeView:
    """Accepts or declines a merge offer."""
    return caller.ask(merges.answer_merge, slug, merge_id, accept=body.accept)


@router.post("/challenges/{slug}/tokens", summary="Create a token", status_code=201)
def issue(caller: TokenCaller, slug: Slug) -> Issued:
    """Creates another token for yourself, shown only once."""
    return caller.ask(tokens.issue_member_token, slug)


@router.get("/challenges/{slug}/tokens", summary="Tokens")
def list_tokens(caller: TokenCaller, slug: Slug) -> list[TokenView]:
    """Lists your tokens, or those of the challenge for organisers, without their secrets."""
    return caller.ask(tokens.list_tokens, slug)


@router.delete("/tokens/{token_id}", summary="Revoke a token", status_code=204)
def revoke(caller: TokenCaller, token_id: Number) -> None:
    """Revokes a token, and ends every session started with it."""
    caller.ask(tokens.revoke_token, token_id)
