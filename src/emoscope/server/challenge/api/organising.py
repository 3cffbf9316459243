"""Routes for organisers: create and change challenges, replace gold, announcements, tokens, storage."""

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
    uploaded,
)
from emoscope.server.challenge.services import audit, challenges, notices, operation, teams, tokens
from emoscope.server.http.problems import CHANGING, refusal

router = APIRouter(prefix="/v1", tags=["organise"], responses=CHANGING)


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
    """Creates a challenge from a TOML file and the files it names, for organisers of everything."""
    return received(caller, definition.file.read(), definition.filename or "definition", files)


@router.patch("/challenges/{slug}", summary="Change a challenge")
def change(caller: TokenCaller, slug: Slug, body: schemas.ChangesIn) -> views.ChallengeView:
    """Changes title, texts (in Markdown), registration or the maximum number of teams."""
    return caller.ask(challenges.change_challenge, slug, body.model_dump(exclude_none=True))


@router.delete("/challenges/{slug}", summary="Delete a challenge", status_code=204)
def delete(caller: TokenCaller, slug: Slug) -> None:
    """Deletes a challenge: only its organisers can see it. It can be restored."""
    caller.ask(challenges.delete_challenge, slug)


@router.post("/challenges/{slug}/restore", summary="Restore a challenge", status_code=204)
def restore(caller: TokenCaller, slug: Slug) -> None:
    """Restores a deleted challenge."""
    caller.ask(challenges.restore_challenge, slug)


@router.post("/challenges/{slug}/phases/{phase}/open", summary="Open a phase")
def open_phase(caller: TokenCaller, slug: Slug, phase: PhaseName) -> views.ChallengeView:
    """Opens a phase now."""
    return caller.ask(challenges.open_phase, slug, phase)


@router.post("/challenges/{slug}/phases/{phase}/close", summary="Close a phase")
def close_phase(caller: TokenCaller, slug: Slug, phase: PhaseName) -> views.ChallengeView:
    """Closes a phase now; a hidden board becomes visible."""
    return caller.ask(challenges.close_phase, slug, phase)


@router.post("/challenges/{slug}/rescore", summary="Rescore")
def rescore(caller: TokenCaller, slug: Slug, body: schemas.RescoreIn) -> schemas.RescoreOut:
    """Rescores submissions whose score is missing, failed or stale."""
    return schemas.RescoreOut(queued=caller.ask(challenges.rescore, slug, body.phase))


@router.get("/challenges/{slug}/jobs", summary="Scoring jobs")
def list_jobs(caller: TokenCaller, slug: Slug) -> views.JobsView:
    """The number of jobs in each state, and the unfinished ones with the reason of the last failure."""
    return caller.ask(operation.jobs, slug)


@router.get("/challenges/{slug}/audit", summary="The audit log")
def read_audit(
    caller: TokenCaller, slug: Slug, limit: AuditLimit = 200, before: AuditBefore = None
) -> list[views.AuditLine]:
    """Who did what in the challenge, newest first."""
    return caller.ask(audit.read_audit, slug, limit=limit, before=before)


@router.put(
    "/challenges/{slug}/phases/{phase}/schedule",
    summary="Schedule a phase",
    responses=refusal("The body is refused, or the phase would close before it opens"),
)
def schedule(caller: TokenCaller, slug: Slug, phase: PhaseName, body: schemas.ScheduleIn) -> views.ChallengeView:
    """Changes when a phase opens, closes or releases its labels."""
    times = {"opens": body.opens, "closes": body.closes, "labels": body.labels}
    return caller.ask(challenges.reschedule, slug, phase, **times, clear=frozenset(body.clear))


@router.put(
    "/challenges/{slug}/phases/{phase}/gold",
    summary="Replace gold labels",
    responses=refusal("The file is not gold for the phase's items; `detail` names the row and the reason"),
)
def gold(
    caller: TokenCaller, slug: Slug, phase: PhaseName, file: Annotated[UploadFile, File(description="The gold file")]
) -> views.GoldView:
    """Replaces a phase's gold labels and rescores all its submissions."""
    with uploaded(caller, slug, file) as path:
        return caller.ask(challenges.replace_gold, slug, phase, path)


@router.post("/challenges/{slug}/teams/{team_id}/disqualify", summary="Disqualify a team")
def disqualify(caller: TokenCaller, slug: Slug, team_id: Number, body: schemas.ReasonIn) -> views.TeamView:
    """Removes a team from the boards; its members see the reason and cannot submit."""
    return caller.ask(teams.disqualify_team, slug, team_id, body.reason)


@router.post("/challenges/{slug}/teams/{team_id}/reinstate", summary="Reinstate a team")
def reinstate(caller: TokenCaller, slug: Slug, team_id: Number) -> views.TeamView:
    """Reinstates a disqualified team."""
    return caller.ask(teams.reinstate_team, slug, team_id)


@router.get("/challenges/{slug}/notices", summary="Announcements", openapi_extra=NO_TOKEN_NEEDED)
def list_notices(caller: AnyCaller, slug: Slug) -> list[views.NoticeView]:
    """Announcements and messages to your team; all for organisers."""
    return caller.ask(notices.list_notices, slug)


@router.post("/challenges/{slug}/notices", summary="Post an announcement", status_code=201)
def announce(
    caller: TokenCaller, gate: OpenGate, slug: Slug, body: schemas.NoticeIn, later: BackgroundTasks
) -> views.NoticeView:
    """Posts an announcement; with `mail` it is also mailed, after the response."""
    return posted(caller, gate, later, slug, body.title, body.text, mail=body.mail)


@router.post("/challenges/{slug}/teams/{team_id}/messages", summary="Message a team", status_code=201)
def message(
    caller: TokenCaller, gate: OpenGate, slug: Slug, team_id: Number, body: schemas.NoticeIn, later: BackgroundTasks
) -> views.NoticeView:
    """Sends a message to one team; with `mail` it is also mailed, after the response."""
    return posted(caller, gate, later, slug, body.title, body.text, team_id=team_id, mail=body.mail)


@router.delete("/challenges/{slug}/notices/{notice_id}", summary="Withdraw an announcement", status_code=204)
def withdraw(caller: TokenCaller, slug: Slug, notice_id: Number) -> None:
    """Hides an announcement or message; mails cannot be recalled."""
    caller.ask(notices.withdraw_notice, slug, notice_id)


@router.post("/challenges/{slug}/notices/{notice_id}/restore", summary="Restore an announcement", status_code=204)
def restore_notice(caller: TokenCaller, slug: Slug, notice_id: Number) -> None:
    """Shows a withdrawn announcement or message again."""
    caller.ask(notices.restore_notice, slug, notice_id)


@router.post("/challenges/{slug}/notices/{notice_id}/mail", summary="Send remaining mails")
def mail_rest(caller: TokenCaller, gate: OpenGate, slug: Slug, notice_id: Number) -> views.NoticeView:
    """Mails an announcement to the members who have not received it yet."""
    return caller.ask(notices.send_notice, slug, notice_id, gate)


@router.get("/challenges/{slug}/storage", summary="Storage")
def used(caller: TokenCaller, slug: Slug) -> views.StorageView:
    """The size of the challenge's files; also of database and free disk, for organisers of everything."""
    return caller.ask(operation.storage, slug)


@router.post("/challenges/{slug}/members/{member_id}/tokens", summary="Create a member's token", status_code=201)
def member_token(caller: TokenCaller, slug: Slug, member_id: Number) -> views.Issued:
    """A new token for a member who lost theirs, shown this once."""
    return caller.ask(tokens.issue_member_token, slug, member_id)


@router.post("/challenges/{slug}/organisers", summary="Another organiser", status_code=201)
def organiser(caller: TokenCaller, slug: Slug, body: schemas.OrganiserIn) -> views.Issued:
    """Creates a token for an organiser of this challenge, shown only once."""
    return caller.ask(tokens.issue_organiser_token, name=body.name, slug=slug)


@router.post("/organisers", summary="Create a token for all challenges", status_code=201)
def organiser_of_all(caller: TokenCaller, body: schemas.OrganiserIn) -> views.Issued:
    """Creates a token for an organiser of all challenges, shown only once."""
    return caller.ask(tokens.issue_organiser_token, name=body.name)


@router.get("/tokens", summary="All tokens")
def all_tokens(caller: TokenCaller) -> list[views.TokenView]:
    """Your tokens; all for organisers of everything. Never their secrets."""
    return caller.ask(tokens.list_tokens)


@router.get("/storage", summary="Storage of all challenges")
def all_used(caller: TokenCaller) -> views.StorageView:
    """The storage of all challenges, for organisers of everything."""
    return caller.ask(operation.storage)


@router.get("/audit", summary="The whole audit log")
def whole_audit(caller: TokenCaller, limit: AuditLimit = 200, before: AuditBefore = None) -> list[views.AuditLine]:
    """Who did what in all challenges, newest first, for organisers of everything."""
    return caller.ask(audit.read_audit, limit=limit, before=before)
