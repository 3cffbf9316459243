"""Challenges with their data, files, labels, boards and survey."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import FileResponse, JSONResponse, Response

from emoscope.server.challenge.api.schemas import ReportIn
from emoscope.server.challenge.board.export import board_text, export_challenge
from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.board.techniques import techniques, techniques_text
from emoscope.server.challenge.dependencies import (
    NO_TOKEN_NEEDED,
    AnyCaller,
    PhaseName,
    Slug,
    TokenCaller,
    attachment,
    board_file,
    download,
)
from emoscope.server.challenge.services import challenges, handouts, reports
from emoscope.server.challenge.services.survey import SurveyQuestion
from emoscope.server.challenge.views import BoardView, ChallengeView, FileView, ReportView, SurveyTable
from emoscope.server.errors import NotFound
from emoscope.server.http.problems import refusal, responses

router = APIRouter(prefix="/v1/challenges", tags=["challenges"], responses=responses(401, 403, 404, 422, 503))
FileName = Annotated[str, Path(max_length=120, pattern=r"^[^/\\\x00-\x1f]+$", examples=["train.txt"])]


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


@router.get("/{slug}/files", summary="Files to download", openapi_extra=NO_TOKEN_NEEDED)
def files(caller: AnyCaller, slug: Slug) -> list[FileView]:
    """Training data and other files, apart from those of the phases."""
    return caller.ask(handouts.list_files, slug)


@router.get("/{slug}/files/{name}", summary="One file", response_class=Response, openapi_extra=NO_TOKEN_NEEDED)
def file(caller: AnyCaller, slug: Slug, name: FileName) -> FileResponse:
    """Downloads a file; some challenges require a team's token."""
    return download(caller.ask(handouts.challenge_file, slug, name))


@router.get("/{slug}/phases/{phase}/labels", summary="The labels of a closed phase", response_class=Response)
def labels(caller: TokenCaller, slug: Slug, phase: PhaseName) -> FileResponse:
    """The gold labels of a closed phase, for teams, if the challenge releases them."""
    return download(caller.ask(handouts.labels_file, slug, phase))


@router.get("/{slug}/survey", summary="The survey", openapi_extra=NO_TOKEN_NEEDED)
def survey(caller: AnyCaller, slug: Slug) -> list[SurveyQuestion]:
    """The questions about teams' systems."""
    return caller.ask(reports.survey, slug)


@router.get("/{slug}/report", summary="Your report")
def report(caller: TokenCaller, slug: Slug) -> ReportView:
    """Your team's report on its system; 404 if there is none."""
    saved = caller.ask(reports.get_report, slug)
    if saved is None:
        raise NotFound("your team has not written a report yet")
    return saved


@router.put(
    "/{slug}/report",
    summary="Save your report",
    responses=responses(400, 409, 413, 415)
    | refusal("The body is refused, or answers a question that is not in the survey"),
)
def keep_report(caller: TokenCaller, slug: Slug, body: ReportIn) -> ReportView:
    """Saves your team's report on its system; it can be changed at any time."""
    return caller.ask(reports.keep_report, slug, **body.model_dump())


@router.get(
    "/{slug}/techniques",
    summary="What teams used",
    response_model=list[SurveyTable],
    responses={200: {"content": {"text/csv": {}}}},
    openapi_extra=NO_TOKEN_NEEDED,
)
def used(
    caller: AnyCaller, slug: Slug, format: Annotated[Literal["json", "csv"], Query(description="json or csv")] = "json"
) -> Response | list[SurveyTable]:
    """The answers to the survey as tables, once all phases have closed."""
    tables = caller.ask(techniques, slug)
    return tables if format == "json" else attachment(techniques_text(tables), f"{slug}-techniques.csv")
