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
from emoscope.server.challenge.views import FileView, QuestionView, ReportView, SurveyTable
from emoscope.server.errors import NotFound
from emoscope.server.http.problems import refusal, responses

router = APIRouter(prefix="/v1/challenges/{slug}", tags=["challenges"], responses=responses(401, 403, 404, 422, 503))
FileName = Annotated[str, Path(max_length=120, pattern=r"^[^/\\\x00-\x1f]+$", examples=["train.txt"])]


@router.get("/files", summary="Files to download", openapi_extra=NO_TOKEN_NEEDED)
def files(caller: AnyCaller, slug: Slug) -> list[FileView]:
    """Training data and the like, besides the files of the phases."""
    return caller.ask(handouts.list_files, slug)


@router.get("/files/{name}", summary="One file", response_class=Response, openapi_extra=NO_TOKEN_NEEDED)
def file(caller: AnyCaller, slug: Slug, name: FileName) -> FileResponse:
    """A file; where downloads are for teams, with a team's token."""
    return download(caller.ask(handouts.challenge_file, slug, name))


@router.get("/phases/{phase}/labels", summary="The labels of a phase that is over", response_class=Response)
def labels(caller: TokenCaller, slug: Slug, phase: PhaseName) -> FileResponse:
    """The gold of a phase that has closed, for teams, where the challenge gives it out."""
    return download(caller.ask(handouts.labels_file, slug, phase))


@router.get("/survey", summary="The survey", openapi_extra=NO_TOKEN_NEEDED)
def survey(caller: AnyCaller, slug: Slug) -> list[QuestionView]:
    """What teams are asked about their systems."""
    return caller.ask(reports.survey, slug)


@router.get("/report", summary="The own report")
def report(caller: TokenCaller, slug: Slug) -> ReportView:
    """What the own team has told about its system; 404 if nothing."""
    found = caller.ask(reports.get_report, slug)
    if found is None:
        raise NotFound("your team has not written its report")
    return found


@router.put(
    "/report",
    summary="Write the own report",
    responses=responses(400, 409, 413, 415)
    | refusal("The body is refused, or answers a question that is not in the survey"),
)
def keep_report(caller: TokenCaller, slug: Slug, body: schemas.ReportIn) -> ReportView:
    """Tell about the own team's system; it may be changed at any time."""
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
