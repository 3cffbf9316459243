"""The organisers' page: open, close and rescore phases; teams and the audit log."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, PhaseName, Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Service, Visitor
from emoscope.server.challenge.services import audit, challenges, jobs, teams
from emoscope.server.errors import ServerError

router = APIRouter(prefix="/challenges/{slug}/organise", include_in_schema=False)


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


@router.post("/phases/{phase}/open")
def _open_phase(visitor: FormVisitor, slug: Slug, phase: PhaseName) -> Response:
    return _attempt(visitor, challenges.open_phase, slug, phase)


@router.post("/phases/{phase}/close")
def _close_phase(visitor: FormVisitor, slug: Slug, phase: PhaseName) -> Response:
    return _attempt(visitor, challenges.close_phase, slug, phase)


@router.post("/rescore")
def _rescore(visitor: FormVisitor, slug: Slug, phase: Annotated[str, Form(max_length=64)] = "") -> Response:
    try:
        queued = visitor.ask(challenges.rescore, slug, phase or None)
    except ServerError as error:
        return _show(visitor, slug, error=error)
    return _show(visitor, slug, done=f"{queued} submissions are being scored again.")


@router.post("/teams/{team_id}/{action}")
def _change_team(visitor: FormVisitor, slug: Slug, team_id: Number, action: Literal["delete", "restore"]) -> Response:
    return _attempt(visitor, teams.restore_team if action == "restore" else teams.delete_team, slug, team_id)
