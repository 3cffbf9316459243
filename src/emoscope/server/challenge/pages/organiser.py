"""The organisers' page: open, close and rescore phases; teams and the audit log."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, PhaseName, Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Service, ShortField, Visitor
from emoscope.server.challenge.services import audit, challenges, jobs, registration, teams
from emoscope.server.errors import ServerError

router = APIRouter(prefix="/challenges/{slug}/organise", include_in_schema=False)
_OPENS = "Participants get the phase's file and may submit from then on. The file cannot be taken back."
_CLOSES = "Nobody can submit any more, and the final scores are shown to everybody. What was seen cannot be taken back."


@router.get("")
def _organiser_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return _show(visitor, slug)


def _show(visitor: Visitor, slug: str, **values: Any) -> Response:
    return visitor.page(
        "organise.html.j2",
        teams=visitor.ask(teams.list_teams, slug),
        challenge=visitor.ask(challenges.get_challenge, slug),
        jobs=visitor.ask(jobs.jobs, slug),
        audit=visitor.ask(audit.read_audit, slug, limit=100),
        **values,
    )


def _attempt(visitor: Visitor, service: Service, slug: str, *values: Any) -> Response:
    return visitor.attempt(f"/challenges/{slug}/organise", _show, service, slug, *values)


@router.post("/phases/{phase}/{action}")
def _move_phase(
    visitor: FormVisitor, slug: Slug, phase: PhaseName, action: Literal["open", "close"], confirm: ShortField = ""
) -> Response:
    """Open or close a phase, once its name was typed: what others have seen then cannot be taken back."""
    challenge = visitor.ask(challenges.get_challenge, slug)
    visitor.ask(challenges.check_organiser, slug)
    question = visitor.must_confirm(
        confirm,
        phase,
        challenge=challenge,
        title=f"{action.title()} phase {phase}?",
        text=_OPENS if action == "open" else _CLOSES,
        action=f"/challenges/{slug}/organise/phases/{phase}/{action}",
        back=f"/challenges/{slug}/organise",
        buttons=[(f"{action.title()} {phase} now", "", "", "primary" if action == "open" else "danger")],
    )
    if question is not None:
        return question
    return _attempt(visitor, challenges.open_phase if action == "open" else challenges.close_phase, slug, phase)


@router.post("/rescore")
def _rescore(visitor: FormVisitor, slug: Slug, phase: Annotated[str, Form(max_length=64)] = "") -> Response:
    try:
        queued = visitor.ask(challenges.rescore, slug, phase or None)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    return _show(visitor, slug, done=f"{queued} submissions are being scored again.")


@router.post("/invitation")
def _invite(visitor: FormVisitor, slug: Slug, email: ShortField = "") -> Response:
    try:
        invitation = visitor.ask(registration.invite_team, slug, visitor.post, email)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    return _show(visitor, slug, invitation=invitation, invited=email.strip())


@router.post("/teams/{team_id}/approve")
def _approve(visitor: FormVisitor, slug: Slug, team_id: Number) -> Response:
    return _attempt(visitor, teams.approve_team, slug, team_id)


@router.post("/teams/{team_id}/{action}")
def _change_team(visitor: FormVisitor, slug: Slug, team_id: Number, action: Literal["delete", "restore"]) -> Response:
    """Delete a team or bring it back, and offer the way back from either."""
    try:
        visitor.ask(teams.restore_team if action == "restore" else teams.delete_team, slug, team_id)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    name = visitor.ask(teams.get_team, slug, team_id).name
    done = (
        f"Team {name} is off the board and its tokens do not work." if action == "delete" else f"Team {name} is back."
    )
    back = "restore" if action == "delete" else "delete"
    return _show(visitor, slug, done=done, undo=f"/challenges/{slug}/organise/teams/{team_id}/{back}")
