"""Challenges, their data and their boards."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import FileResponse, JSONResponse, Response

from emoscope.server.challenge.board.export import board_text, export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import (
    NO_TOKEN_NEEDED,
    AnyCaller,
    PhaseName,
    Slug,
    board_file,
    download,
)
from emoscope.server.challenge.services import challenges
from emoscope.server.challenge.views import BoardView, ChallengeView
from emoscope.server.http.problems import responses

router = APIRouter(prefix="/v1/challenges", tags=["challenges"], responses=responses(401, 403, 404, 422, 503))


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
