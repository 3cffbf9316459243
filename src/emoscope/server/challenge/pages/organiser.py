"""The organisers' page: open, close and rescore phases; teams and the audit log."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form
from starlette.responses import Response

from emoscope.server.challenge.dependencies import Number, OpenStore, PhaseName, Slug
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Visitor
from emoscope.server.challenge.services import audit, challenges, teams
from emoscope.server.errors import ServerError
from emoscope.server.store import Store

router = APIRouter(prefix="/challenges/{slug}/organise", include_in_schema=False)


@router.get("")
def _organiser_page(visitor: CurrentVisitor, store: OpenStore, slug: Slug) -> Response:
    return _show(visitor, store, slug)


def _show(visitor: Visitor, store: Store, slug: str, *, error: ServerError | None = None, done: str = "") -> Response:
    return visitor.page(
        "organise.html.j2",
        error=error,
        teams=teams.list_teams(store, visitor.actor, slug),
        challenge=challenges.get_challenge(store, visitor.actor, slug),
        audit=audit.read_audit(store, visitor.actor, slug, limit=100),
        done=done,
    )


def _attempt(visitor: Visitor, store: Store, slug: str, service: Callable[..., Any], *arguments: Any) -> Response:
    action = partial(service, store, visitor.actor, slug, *arguments)
    return visitor.attempt(action, f"/challenges/{slug}/organise", partial(_show, visitor, store, slug))


@router.post("/phases/{phase}/open")
def _open_phase(visitor: FormVisitor, store: OpenStore, slug: Slug, phase: PhaseName) -> Response:
    return _attempt(visitor, store, slug, challenges.open_phase, phase)


@router.post("/phases/{phase}/close")
def _close_phase(visitor: FormVisitor, store: OpenStore, slug: Slug, phase: PhaseName) -> Response:
    return _attempt(visitor, store, slug, challenges.close_phase, phase)


@router.post("/rescore")
def _rescore(
    visitor: FormVisitor, store: OpenStore, slug: Slug, phase: Annotated[str, Form(max_length=64)] = ""
) -> Response:
    try:
        queued = challenges.rescore(store, visitor.actor, slug, phase or None)
    except ServerError as error:
        return _show(visitor, store, slug, error=error)
    return _show(visitor, store, slug, done=f"{queued} submissions are being scored again.")


@router.post("/teams/{team_id}/{action}")
def _change_team(
    visitor: FormVisitor, store: OpenStore, slug: Slug, team_id: Number, action: Literal["delete", "restore"]
) -> Response:
    return _attempt(visitor, store, slug, teams.restore_team if action == "restore" else teams.delete_team, team_id)
