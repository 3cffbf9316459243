"""Files besides those of the phases, labels of phases that are over, and what teams tell about their systems."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import FileResponse, Response

from emoscope.server.challenge.api import schemas
from emoscope.server.challenge.board.techniques import techniques, techniques_text
from emoscope.server.challenge.dependencies import (
    NO_TOKEN_NEEDED,
    AnyCaller,
    PhaseName,
    Slug,
    TokenCaller,
    attachment,
    download,
)
from emoscope.server.challenge.services import handouts, reports
from emoscope.server.challenge.services.survey import SurveyQuestion
from emoscope.server.challenge.views import FileView, ReportView, SurveyTable
from emoscope.server.errors import NotFound
from emoscope.server.http.problems import refusal, responses

router = APIRouter(prefix="/v1/challenges/{slug}", tags=["challenges"], responses=responses(401, 403, 404, 422, 503))
FileName = Annotated[str, Path(max_length=120, pattern=r"^[^/\\\x00-\x1f]+$", examples=["train.txt"])]


@router.get("/files", summary="Files to download", openapi_extra=NO_TOKEN_NEEDED)
def files(caller: AnyCaller, slug: Slug) -> list[FileView]:
    """Training data and other files, apart from those of the phases."""
    return caller.ask(handouts.list_files, slug)


@router.get("/files/{name}", summary="One file", response_class=Response, openapi_extra=NO_TOKEN_NEEDED)
def file(caller: AnyCaller, slug: Slug, name: FileName) -> FileResponse:
    """Downloads a file; some challenges require a team's token."""
    return download(caller.ask(handouts.challenge_file, slug, name))


@router.get("/phases/{phase}/labels", summary="The labels of a closed phase", response_class=Response)
def labels(caller: TokenCaller, slug: Slug, phase: PhaseName) -> FileResponse:
    """The gold labels of a closed phase, for teams, if the challenge releases them."""
    return download(caller.ask(handouts.labels_file, slug, phase))


@router.get("/survey", summary="The survey", openapi_extra=NO_TOKEN_NEEDED)
def survey(caller: AnyCaller, slug: Slug) -> list[SurveyQuestion]:
    """The questions about teams' systems."""
    return caller.ask(reports.survey, slug)


@router.get("/report", summary="Your report")
def report(caller: TokenCaller, slug: Slug) -> ReportView:
    """Your team's report on its system; 404 if there is none."""
    saved = caller.ask(reports.get_report, slug)
    if saved is None:
        raise NotFound("your team has not written a report yet")
    return saved


@router.put(
    "/report",
    summary="Save your report",
    responses=responses(400, 409, 413, 415)
    | refusal("The body is refused, or answers a question that is not in the survey"),
)
def keep_report(caller: TokenCaller, slug: Slug, body: schemas.ReportIn) -> ReportView:
    """Saves your team's report on its system; it can be changed at any time."""
    return caller.ask(reports.keep_report, slug, **body.model_dump())


@router.get(
    "/techniques",
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
