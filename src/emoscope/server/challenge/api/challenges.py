"""Challenges, their data and their boards, for everybody."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import FileResponse, JSONResponse, Response

from emoscope.server.challenge.board.export import export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.dependencies import (
    OpenStore,
    PhaseName,
    Slug,
    TokenActor,
    board_response,
    download,
    listed,
    shown,
)
from emoscope.server.challenge.services import challenges
from emoscope.server.challenge.views import BoardView, ChallengeView
from emoscope.server.http.problems import responses

router = APIRouter(prefix="/v1/challenges", tags=["challenges"], responses=responses(401, 403, 404, 422, 503))


@router.get("", summary="All challenges", response_model=list[ChallengeView])
def list_all(store: OpenStore, actor: TokenActor) -> JSONResponse:
    """The challenges this token may see."""
    return listed(challenges.list_challenges(store, actor))


@router.get("/{slug}", summary="One challenge", response_model=ChallengeView)
def one(store: OpenStore, actor: TokenActor, slug: Slug) -> JSONResponse:
    """A challenge with its phases."""
    return shown(challenges.get_challenge(store, actor, slug))


@router.get("/{slug}/phases/{phase}/data", summary="The file to label", response_class=Response)
def data(store: OpenStore, actor: TokenActor, slug: Slug, phase: PhaseName) -> FileResponse:
    """The phase's file without labels."""
    return download(challenges.unlabelled_file(store, actor, slug, phase))


@router.get(
    "/{slug}/phases/{phase}/board",
    summary="The leaderboard",
    response_model=BoardView,
    responses={200: {"content": {"text/csv": {}}}},
)
def board(
    store: OpenStore,
    actor: TokenActor,
    slug: Slug,
    phase: PhaseName,
    format: Annotated[Literal["json", "csv"], Query(description="json or csv")] = "json",
    published: Annotated[bool, Query(description="With the paper's published systems beside")] = True,
) -> Response:
    """The phase's board; 403 while it is hidden."""
    shown_board = leaderboard(store, actor, slug, phase, published=published)
    return board_response(shown_board, format, attached=format == "csv")


@router.get("/{slug}/export", summary="All that may be published", response_model=dict[str, Any])
def exported(store: OpenStore, actor: TokenActor, slug: Slug) -> JSONResponse:
    """The challenge with its boards: what the public may see, or more for its organisers; never a gold label."""
    return JSONResponse(export_challenge(store, actor, slug))
