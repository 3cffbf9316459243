"""What organisers do with a challenge: create and change it, replace gold, tell teams, look after tokens and space."""

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, File, UploadFile

from emoscope.server.challenge import views
from emoscope.server.challenge.api import schemas
from emoscope.server.challenge.dependencies import (
    NO_TOKEN_NEEDED,
    AnyCaller,
    AuditBefore,
    AuditLimit,
    Number,
    OpenGate,
    PhaseName,
    Slug,
    TokenCaller,
    posted,
    received,
)
from emoscope.server.challenge.services import audit, challenges, creation, notices, storage, teams, tokens
from emoscope.server.http.problems import refusal, responses

router = APIRouter(
    prefix="/v1", tags=["organise"], responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 429, 503)
)


@router.post(
    "/challenges",
    summary="Create a challenge",
    status_code=201,
    responses=refusal(
        "The form, the definition or a file it names is refused; `detail` names the field, or file and row"
    ),
)
def create(
    caller: TokenCaller,
    definition: Annotated[UploadFile, File(description="The TOML file")],
    files: Annotated[list[UploadFile], File(description="The files it names", min_length=1, max_length=60)],
) -> views.ChallengeView:
    """Creates a challenge from its TOML file and the files it names, for those who organise everything."""
    return received(caller, definition.file.read(), definition.filename or "definition", files)


@router.patch("/challenges/{slug}", summary="Change a challenge")
def change(caller: TokenCaller, slug: Slug, body: schemas.ChangesIn) -> views.ChallengeView:
    """Changes title, texts (in Markdown), registration or how many teams there may be."""
    return caller.ask(challenges.change_challenge, slug, body.model_dump(exclude_none=True))


@router.delete("/challenges/{slug}", summary="Delete a challenge", status_code=204)
def delete(caller: TokenCaller, slug: Slug) -> None:
    """Hides a challenge from all but its organisers; it can be restored."""
    caller.ask(challenges.delete_challenge, slug)


@router.post("/challenges/{slug}/restore", summary="Restore a challenge", status_code=204)
def restore(caller: TokenCaller, slug: Slug) -> None:
    """Brings a deleted challenge back."""
    caller.ask(challenges.restore_challenge, slug)


@router.put(
    "/challenges/{slug}/phases/{phase}/schedule",
    summary="Schedule a phase",
    responses=refusal("The body is refused, or the phase would close before it opens"),
)
def schedule(caller: TokenCaller, slug: Slug, phase: PhaseName, body: schemas.ScheduleIn) -> views.ChallengeView:
    """Changes when a phase opens or closes."""
    return caller.ask(
        challenges.reschedule, slug, phase, opens=body.opens, closes=body.closes, clear=frozenset(body.clear)
    )


@router.put(
    "/challenges/{slug}/phases/{phase}/gold",
    summary="Replace gold",
    responses=refusal("The file is not gold for the phase's items; `detail` names the row and the reason"),
)
def gold(
    caller: TokenCaller, slug: Slug, phase: PhaseName, file: Annotated[UploadFile, File(description="The gold file")]
) -> views.GoldView:
    """Replaces a phase's gold labels, and scores all its submissions again."""
    return caller.ask(creation.replace_gold_by_upload, slug, phase, file.filename or "", file.file)


@router.post("/challenges/{slug}/teams/{team_id}/disqualify", summary="Disqualify a team")
def disqualify(caller: TokenCaller, slug: Slug, team_id: Number, body: schemas.ReasonIn) -> views.TeamView:
    """Takes a team off the boards; its members see why, and cannot submit."""
    return caller.ask(teams.disqualify_team, slug, team_id, body.reason)


@router.post("/challenges/{slug}/teams/{team_id}/reinstate", summary="Reinstate a team")
def reinstate(caller: TokenCaller, slug: Slug, team_id: Number) -> views.TeamView:
    """Brings a disqualified team back."""
    return caller.ask(teams.reinstate_team, slug, team_id)


@router.get("/challenges/{slug}/notices", summary="Announcements", openapi_extra=NO_TOKEN_NEEDED)
def list_notices(caller: AnyCaller, slug: Slug) -> list[views.NoticeView]:
    """Announcements, and messages to the own team; all for organisers."""
    return caller.ask(notices.list_notices, slug)


@router.post("/challenges/{slug}/notices", summary="Announce something", status_code=201)
def announce(
    caller: TokenCaller, gate: OpenGate, slug: Slug, body: schemas.NoticeIn, later: BackgroundTasks
) -> views.NoticeView:
    """Tells everybody; with `mail` also by mail, which is sent after the answer."""
    return posted(caller, gate, later, slug, body.title, body.text, mail=body.mail)


@router.post("/challenges/{slug}/teams/{team_id}/messages", summary="Write to a team", status_code=201)
def message(
    caller: TokenCaller, gate: OpenGate, slug: Slug, team_id: Number, body: schemas.NoticeIn, later: BackgroundTasks
) -> views.NoticeView:
    """Tells one team; with `mail` also by mail, which is sent after the answer."""
    return posted(caller, gate, later, slug, body.title, body.text, team_id=team_id, mail=body.mail)


@router.delete("/challenges/{slug}/notices/{notice_id}", summary="Withdraw an announcement", status_code=204)
def withdraw(caller: TokenCaller, slug: Slug, notice_id: Number) -> None:
    """Hides an announcement or message; mails cannot be taken back."""
    caller.ask(notices.withdraw_notice, slug, notice_id)


@router.post("/challenges/{slug}/notices/{notice_id}/restore", summary="Show it again", status_code=204)
def restore_notice(caller: TokenCaller, slug: Slug, notice_id: Number) -> None:
    """Shows a withdrawn announcement or message again."""
    caller.ask(notices.restore_notice, slug, notice_id)


@router.post("/challenges/{slug}/notices/{notice_id}/mail", summary="Mail the rest")
def mail_rest(caller: TokenCaller, gate: OpenGate, slug: Slug, notice_id: Number) -> views.NoticeView:
    """Mails an announcement to those whose mail could not be sent before."""
    return caller.ask(notices.send_notice, slug, notice_id, gate)


@router.get("/challenges/{slug}/storage", summary="Space used")
def used(caller: TokenCaller, slug: Slug) -> views.StorageView:
    """The space of the challenge's files; of database and disk for those who organise everything."""
    return caller.ask(storage.storage, slug)


@router.post("/challenges/{slug}/members/{member_id}/tokens", summary="A token for a member", status_code=201)
def member_token(caller: TokenCaller, slug: Slug, member_id: Number) -> views.Issued:
    """A new token for a member who lost theirs, shown this once."""
    return caller.ask(tokens.issue_member_token, slug, member_id)


@router.post("/challenges/{slug}/organisers", summary="Another organiser", status_code=201)
def organiser(caller: TokenCaller, slug: Slug, body: schemas.OrganiserIn) -> views.Issued:
    """A token for an organiser of this challenge, shown this once."""
    return caller.ask(tokens.issue_organiser_token, name=body.name, slug=slug)


@router.post("/organisers", summary="An organiser of everything", status_code=201)
def organiser_of_all(caller: TokenCaller, body: schemas.OrganiserIn) -> views.Issued:
    """A token for an organiser of all challenges, shown this once."""
    return caller.ask(tokens.issue_organiser_token, name=body.name)


@router.get("/tokens", summary="All tokens")
def all_tokens(caller: TokenCaller) -> list[views.TokenView]:
    """The own tokens; all for those who organise everything. Never a secret."""
    return caller.ask(tokens.list_tokens)


@router.get("/storage", summary="Space used by all")
def all_used(caller: TokenCaller) -> views.StorageView:
    """The space of all challenges, for those who organise everything."""
    return caller.ask(storage.storage)


@router.get("/audit", summary="The whole audit log")
def whole_audit(caller: TokenCaller, limit: AuditLimit = 200, before: AuditBefore = None) -> list[views.AuditLine]:
    """What was done in all challenges, newest first, for those who organise everything."""
    return caller.ask(audit.read_audit, limit=limit, before=before)
