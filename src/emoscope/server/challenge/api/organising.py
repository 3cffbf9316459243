"""What only organisers may do."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from emoscope.server.challenge.api import schemas
from emoscope.server.challenge.dependencies import MAX_ID, OpenStore, PhaseName, Slug, TokenActor, listed, shown
from emoscope.server.challenge.services import audit, challenges
from emoscope.server.challenge.views import AuditLine, ChallengeView
from emoscope.server.http.problems import responses

router = APIRouter(
    prefix="/v1/challenges/{slug}",
    tags=["organise"],
    responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 503),
)


@router.post("/phases/{phase}/open", summary="Open a phase", response_model=ChallengeView)
def open_phase(store: OpenStore, actor: TokenActor, slug: Slug, phase: PhaseName) -> JSONResponse:
    """Opens a phase now."""
    return shown(challenges.open_phase(store, actor, slug, phase))


@router.post("/phases/{phase}/close", summary="Close a phase", response_model=ChallengeView)
def close_phase(store: OpenStore, actor: TokenActor, slug: Slug, phase: PhaseName) -> JSONResponse:
    """Closes a phase now; a hidden board is shown from then on."""
    return shown(challenges.close_phase(store, actor, slug, phase))


@router.post("/rescore", summary="Score again", response_model=schemas.RescoreOut)
def rescore(store: OpenStore, actor: TokenActor, slug: Slug, body: schemas.RescoreIn) -> schemas.RescoreOut:
    """Scores again what was scored by another scorer or against other gold labels."""
    return schemas.RescoreOut(queued=challenges.rescore(store, actor, slug, body.phase))


@router.get("/audit", summary="The audit log", response_model=list[AuditLine])
def read_audit(
    store: OpenStore,
    actor: TokenActor,
    slug: Slug,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    before: Annotated[int | None, Query(ge=1, le=MAX_ID, description="Lines older than this one")] = None,
) -> JSONResponse:
    """What was done in the challenge, newest first."""
    return listed(audit.read_audit(store, actor, slug, limit=limit, before=before))
