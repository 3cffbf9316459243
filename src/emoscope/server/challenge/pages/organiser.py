"""The organisers' page: open, close, score again; teams and the audit log."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form
from starlette.responses import HTMLResponse, Response

from emoscope.server.challenge.api.access import Number, OpenStore, PhaseName, Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Visitor
from emoscope.server.challenge.services import audit, challenges, teams
from emoscope.server.errors import ChallengeError
from emoscope.server.store import Store

router = APIRouter(prefix="/challenges/{slug}/organise", include_in_schema=False)


@router.get("")
def organiser_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug) -> HTMLResponse:
    """Everything an organiser needs."""
    return _show(visitor, store, slug)


def _show(
    visitor: Visitor, store: Store, slug: str, *, error: ChallengeError | None = None, done: str = ""
) -> HTMLResponse:
    return visitor.page(
        "organise.html.j2",
        status=error.status if error else 200,
        here="challenges",
        teams=teams.list_teams(store, visitor.actor, slug),
        challenge=challenges.get_challenge(store, visitor.actor, slug),
        audit=audit.read_audit(store, visitor.actor, slug, limit=100),
        error=error,
        done=done,
    )


@router.post("/phases/{phase}/open")
def open_phase(visitor: FormVisitor, store: OpenStore, slug: Slug, phase: PhaseName) -> Response:
    """Opens a phase now."""
    try:
        challenges.open_phase(store, visitor.actor, slug, phase)
    except ChallengeError as error:
        return _show(visitor, store, slug, error=error)
    return visitor.go(f"/challenges/{slug}/organise")


@router.post("/phases/{phase}/close")
def close_phase(visitor: FormVisitor, store: OpenStore, slug: Slug, phase: PhaseName) -> Response:
    """Closes a phase now."""
    try:
        challenges.close_phase(store, visitor.actor, slug, phase)
    except ChallengeError as error:
        return _show(visitor, store, slug, error=error)
    return visitor.go(f"/challenges/{slug}/organise")


@router.post("/rescore")
def rescore(
    visitor: FormVisitor, store: OpenStore, slug: Slug, phase: Annotated[str, Form(max_length=64)] = ""
) -> HTMLResponse:
    """Scores again what is stale."""
    try:
        queued = challenges.rescore(store, visitor.actor, slug, phase or None)
    except ChallengeError as error:
        return _show(visitor, store, slug, error=error)
    return _show(visitor, store, slug, done=f"{queued} submissions are being scored again.")


@router.post("/teams/{team_id}/{action}")
def change_team(
    visitor: FormVisitor, store: OpenStore, slug: Slug, team_id: Number, action: Literal["delete", "restore"]
) -> Response:
    """Takes a team out, or brings it back."""
    try:
        (teams.restore_team if action == "restore" else teams.delete_team)(store, visitor.actor, slug, team_id)
    except ChallengeError as error:
        return _show(visitor, store, slug, error=error)
    return visitor.go(f"/challenges/{slug}/organise")
