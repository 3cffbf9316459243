"""Challenges, their data and their boards, and what only their organisers may do."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import FileResponse, JSONResponse, Response

from emoscope.server.challenge.api import schemas
from emoscope.server.challenge.board.export import board_text, export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import (
    NO_TOKEN_NEEDED,
    AnyCaller,
    AuditBefore,
    AuditLimit,
    PhaseName,
    Slug,
    TokenCaller,
    board_file,
    download,
)
from emoscope.server.challenge.services import audit, challenges, jobs
from emoscope.server.challenge.views import AuditLine, BoardView, ChallengeView, JobsView
from emoscope.server.http.problems import responses

router = APIRouter(prefix="/v1/challenges", tags=["challenges"], responses=responses(401, 403, 404, 422, 503))
organising = APIRouter(
    prefix="/v1/challenges/{slug}", tags=["organise"], responses=responses(400, 401, 403, 404, 409, 413, 415, 422, 503)
)


@router.get("", summary="All challenges", openapi_extra=NO_TOKEN_NEEDED)
def list_all(caller: AnyCaller) -> list[ChallengeView]:
    """The challenges this token may see."""
    return caller.ask(challenges.list_challenges)


@router.get("/{slug}", summary="One challenge", openapi_extra=NO_TOKEN_NEEDED)
def one(caller: AnyCaller, slug: Slug) -> ChallengeView:
    """A challenge with its phases."""
    return caller.ask(challenges.get_challenge, slug)


@router.get(
    "/{slug}/phases/{phase}/data", summary="The file to label", response_class=Response, openapi_extra=NO_TOKEN_NEEDED
)
def data(caller: AnyCaller, slug: Slug, phase: PhaseName) -> FileResponse:
    """The phase's file without labels."""
    return download(caller.ask(challenges.unlabelled_file, slug, phase))


@router.get(
    "/{slug}/phases/{phase}/board",
    summary="The leaderboard",
    response_model=BoardView,
    responses={200: {"content": {"text/csv": {}}}},
    openapi_extra=NO_TOKEN_NEEDED,
)
def board(
    caller: AnyCaller,
    slug: Slug,
    phase: PhaseName,
    format: Annotated[Literal["json", "csv"], Query(description="json or csv")] = "json",
    published: Annotated[bool, Query(description="With the paper's published systems beside")] = True,
    final: Annotated[bool, Query(description="As if the phase closed now, for organisers")] = False,
) -> Response:
    """The phase's board; 403 while it is hidden. While the phase is open, scores are rounded and on the public part."""
    found = caller.ask(leaderboard, slug, phase, published=published, final=final)
    if format == "csv":
        return board_file(found, "csv")
    return Response(board_text(found, "json"), media_type="application/json")


@router.get(
    "/{slug}/export", summary="All that may be published", response_model=dict[str, Any], openapi_extra=NO_TOKEN_NEEDED
)
def exported(caller: AnyCaller, slug: Slug) -> JSONResponse:
    """The challenge with its boards: what the public may see, or more for its organisers; never a gold label."""
    return JSONResponse(caller.ask(export_challenge, slug))


@organising.post("/phases/{phase}/open", summary="Open a phase")
def open_phase(caller: TokenCaller, slug: Slug, phase: PhaseName) -> ChallengeView:
    """Opens a phase now."""
    return caller.ask(challenges.open_phase, slug, phase)


@organising.post("/phases/{phase}/close", summary="Close a phase")
def close_phase(caller: TokenCaller, slug: Slug, phase: PhaseName) -> ChallengeView:
    """Closes a phase now; a hidden board is shown from then on."""
    return caller.ask(challenges.close_phase, slug, phase)


@organising.post("/rescore", summary="Score again")
def rescore(caller: TokenCaller, slug: Slug, body: schemas.RescoreIn) -> schemas.RescoreOut:
    """Scores again what was scored by another scorer or against other gold labels."""
    return schemas.RescoreOut(queued=caller.ask(challenges.rescore, slug, body.phase))


@organising.get("/jobs", summary="Scoring jobs")
def list_jobs(caller: TokenCaller, slug: Slug) -> JobsView:
    """How many jobs are in each state, and those that wait, run or have failed, with the reason."""
    return caller.ask(jobs.jobs, slug)


@organising.get("/audit", summary="The audit log")
def read_audit(caller: TokenCaller, slug: Slug, limit: AuditLimit = 200, before: AuditBefore = None) -> list[AuditLine]:
    """What was done in the challenge, newest first."""
    return caller.ask(audit.read_audit, slug, limit=limit, before=before)
