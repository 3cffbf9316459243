"""What organisers do with a challenge: create and change it, replace gold, tell teams, look after tokens and space."""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, File, Query, UploadFile
from starlette.responses import JSONResponse

from emoscope.server.challenge.api import schemas
from emoscope.server.challenge.dependencies import (
    MAX_ID,
    NO_TOKEN_NEEDED,
    AnyCaller,
    Number,
    OpenGate,
    PhaseName,
    Slug,
    TokenCaller,
    posted,
    received,
    shown,
)
from emoscope.server.challenge.services import audit, challenges, creation, notices, storage, teams, tokens
from emoscope.server.challenge.views import (
    AuditLine,
    ChallengeView,
    GoldView,
    Issued,
    NoticeView,
    StorageView,
    TeamView,
    TokenView,
)
from emoscope.server.http.problems import responses

router = APIRouter(
    prefix="/v1", tags=["organise"], responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503)
)


@router.post("/challenges", summary="Create a challenge", status_code=201, response_model=ChallengeView)
def create(
    caller: TokenCaller,
    definition: Annotated[UploadFile, File(description="The TOML file")],
    files: Annotated[list[UploadFile], File(description="The files it names", max_length=60)],
) -> JSONResponse:
    """Creates a challenge from its TOML file and the files it names, for those who organise everything."""
    return shown(received(caller, definition.file.read(), definition.filename or "definition", files), 201)


@router.patch("/challenges/{slug}", summary="Change a challenge", response_model=ChallengeView)
def change(caller: TokenCaller, slug: Slug, body: schemas.ChangesIn) -> JSONResponse:
    """Changes title, texts (in Markdown), registration or how many teams there may be."""
    return shown(caller.ask(challenges.change_challenge, slug, body.model_dump(exclude_none=True)))


@router.delete("/challenges/{slug}", summary="Delete a challenge", status_code=204)
def delete(caller: TokenCaller, slug: Slug) -> None:
    """Hides a challenge from all but its organisers; it can be restored."""
    caller.ask(challenges.delete_challenge, slug)


@router.post("/challenges/{slug}/restore", summary="Restore a challenge", status_code=204)
def restore(caller: TokenCaller, slug: Slug) -> None:
    """Brings a deleted challenge back."""
    caller.ask(challenges.restore_challenge, slug)


@router.put("/challenges/{slug}/phases/{phase}/schedule", summary="Schedule a phase", response_model=ChallengeView)
def schedule(caller: TokenCaller, slug: Slug, phase: PhaseName, body: schemas.ScheduleIn) -> JSONResponse:
    """Changes when a phase opens or closes."""
    return shown(
        caller.ask(
            challenges.reschedule, slug, phase, opens=body.opens, closes=body.closes, clear=frozenset(body.clear)
        )
    )


@router.put("/challenges/{slug}/phases/{phase}/gold", summary="Replace gold", response_model=GoldView)
def gold(
    caller: TokenCaller, slug: Slug, phase: PhaseName, file: Annotated[UploadFile, File(description="The gold file")]
) -> JSONResponse:
    """Replaces a phase's gold labels, and scores all its submissions again."""
    return shown(caller.ask(creation.replace_gold_by_upload, slug, phase, file.filename or "", file.file))


@router.post("/challenges/{slug}/teams/{team_id}/disqualify", summary="Disqualify a team", response_model=TeamView)
def disqualify(caller: TokenCaller, slug: Slug, team_id: Number, body: schemas.ReasonIn) -> JSONResponse:
    """Takes a team off the boards; its members see why, and cannot submit."""
    return shown(caller.ask(teams.disqualify_team, slug, team_id, body.reason))


@router.post("/challenges/{slug}/teams/{team_id}/reinstate", summary="Reinstate a team", response_model=TeamView)
def reinstate(caller: TokenCaller, slug: Slug, team_id: Number) -> JSONResponse:
    """Brings a disqualified team back."""
    return shown(caller.ask(teams.reinstate_team, slug, team_id))


@router.get(
    "/challenges/{slug}/notices",
    summary="Announcements",
    response_model=list[NoticeView],
    openapi_extra=NO_TOKEN_NEEDED,
)
def list_notices(caller: AnyCaller, slug: Slug) -> JSONResponse:
    """Announcements, and messages to the own team; all for organisers."""
    return shown(caller.ask(notices.list_notices, slug))


@router.post("/challenges/{slug}/notices", summary="Announce something", status_code=201, response_model=NoticeView)
def announce(
    caller: TokenCaller, gate: OpenGate, slug: Slug, body: schemas.NoticeIn, later: BackgroundTasks
) -> JSONResponse:
    """Tells everybody; with `mail` also by mail, which is sent after the answer."""
    return shown(posted(caller, gate.post, later, slug, body.title, body.text, mail=body.mail), 201)


@router.post(
    "/challenges/{slug}/teams/{team_id}/messages",
    summary="Write to a team",
    status_code=201,
    response_model=NoticeView,
)
def message(
    caller: TokenCaller, gate: OpenGate, slug: Slug, team_id: Number, body: schemas.NoticeIn, later: BackgroundTasks
) -> JSONResponse:
    """Tells one team; with `mail` also by mail, which is sent after the answer."""
    return shown(posted(caller, gate.post, later, slug, body.title, body.text, team_id=team_id, mail=body.mail), 201)


@router.delete("/challenges/{slug}/notices/{notice_id}", summary="Withdraw an announcement", status_code=204)
def withdraw(caller: TokenCaller, slug: Slug, notice_id: Number) -> None:
    """Hides an announcement or message; mails cannot be taken back."""
    caller.ask(notices.withdraw_notice, slug, notice_id)


@router.post("/challenges/{slug}/notices/{notice_id}/restore", summary="Show it again", status_code=204)
def restore_notice(caller: TokenCaller, slug: Slug, notice_id: Number) -> None:
    """Shows a withdrawn announcement or message again."""
    caller.ask(notices.restore_notice, slug, notice_id)


@router.post("/challenges/{slug}/notices/{notice_id}/mail", summary="Mail the rest", response_model=NoticeView)
def mail_rest(caller: TokenCaller, gate: OpenGate, slug: Slug, notice_id: Number) -> JSONResponse:
    """Mails an announcement to those whose mail could not be sent before."""
    return shown(caller.ask(notices.send_notice, slug, notice_id, gate.post))


@router.get("/challenges/{slug}/storage", summary="Space used", response_model=StorageView)
def used(caller: TokenCaller, slug: Slug) -> JSONResponse:
    """The space of the challenge's files; of database and disk for those who organise everything."""
    return shown(caller.ask(storage.storage, slug))


@router.post(
    "/challenges/{slug}/members/{member_id}/tokens",
    summary="A token for a member",
    status_code=201,
    response_model=Issued,
)
def member_token(caller: TokenCaller, slug: Slug, member_id: Number) -> JSONResponse:
    """A new token for a member who lost theirs, shown this once."""
    return shown(caller.ask(tokens.issue_member_token, slug, member_id), 201)


@router.post("/challenges/{slug}/organisers", summary="Another organiser", status_code=201, response_model=Issued)
def organiser(caller: TokenCaller, slug: Slug, body: schemas.OrganiserIn) -> JSONResponse:
    """A token for an organiser of this challenge, shown this once."""
    return shown(caller.ask(tokens.issue_organiser_token, name=body.name, slug=slug), 201)


@router.post("/organisers", summary="An organiser of everything", status_code=201, response_model=Issued)
def organiser_of_all(caller: TokenCaller, body: schemas.OrganiserIn) -> JSONResponse:
    """A token for an organiser of all challenges, shown this once."""
    return shown(caller.ask(tokens.issue_organiser_token, name=body.name), 201)


@router.get("/tokens", summary="All tokens", response_model=list[TokenView])
def all_tokens(caller: TokenCaller) -> JSONResponse:
    """The own tokens; all for those who organise everything. Never a secret."""
    return shown(caller.ask(tokens.list_tokens))


@router.get("/storage", summary="Space used by all", response_model=StorageView)
def all_used(caller: TokenCaller) -> JSONResponse:
    """The space of all challenges, for those who organise everything."""
    return shown(caller.ask(storage.storage))


@router.get("/audit", summary="The whole audit log", response_model=list[AuditLine])
def whole_audit(
    caller: TokenCaller,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    before: Annotated[int | None, Query(ge=1, le=MAX_ID, description="Lines older than this one")] = None,
) -> JSONResponse:
    """What was done in all challenges, newest first, for those who organise everything."""
    return shown(caller.ask(audit.read_audit, limit=limit, before=before))
