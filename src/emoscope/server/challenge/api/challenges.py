"""Challenges, their data and boards, and routes for their organisers."""

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
    """The phase's unlabelled file."""
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
    published: Annotated[bool, Query(description="Include the paper's published systems")] = True,
    final: Annotated[bool, Query(description="The final ranking if the phase closed now, for organisers")] = False,
) -> Response:
    """The phase's board; 403 while it is hidden. While the phase is open, scores are rounded and on the public part."""
    shown = caller.ask(leaderboard, slug, phase, published=published, final=final)
    if format == "csv":
        return board_file(shown, "csv")
    return Response(board_text(shown, "json"), media_type="application/json")


@router.get(
    "/{slug}/export", summary="Export a challenge", response_model=dict[str, Any], openapi_extra=NO_TOKEN_NEEDED
)
def exported(caller: AnyCaller, slug: Slug) -> JSONResponse:
    """The challenge with its boards: what is public, or everything for its organisers; never gold labels."""
    return JSONResponse(caller.ask(export_challenge, slug))


@organising.post("/phases/{phase}/open", summary="Open a phase")
def open_phase(caller: TokenCaller, slug: Slug, phase: PhaseName) -> ChallengeView:
    """Opens a phase now."""
    return caller.ask(challenges.open_phase, slug, phase)


@organising.post("/phases/{phase}/close", summary="Close a phase")
def close_phase(caller: TokenCaller, slug: Slug, phase: PhaseName) -> ChallengeView:
    """Closes a phase now; a hidden board becomes visible."""
    return caller.ask(challenges.close_phase, slug, phase)


@organising.post("/rescore", summary="Rescore")
def rescore(caller: TokenCaller, slug: Slug, body: schemas.RescoreIn) -> schemas.RescoreOut:
    """Rescores submissions whose score is missing, failed or stale."""
    return schemas.RescoreOut(queued=caller.ask(challenges.rescore, slug, body.phase))


@organising.get("/jobs", summary="Scoring jobs")
def list_jobs(caller: TokenCaller, slug: Slug) -> JobsView:
    """The number of jobs in each state, and the unfinished ones with the reason of the last failure."""
    return caller.ask(jobs.jobs, slug)


@organising.get("/audit", summary="The audit log")
def read_audit(caller: TokenCaller, slug: Slug, limit: AuditLimit = 200, before: AuditBefore = None) -> list[AuditLine]:
    """Who did what in the challenge, newest first."""
    return caller.ask(audit.read_audit, slug, limit=limit, before=before)
