"""The pages everyone sees: detection, and the API to try."""

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from emoscope.server.challenge.pages import account as account_pages
from emoscope.server.challenge.pages import challenges as challenge_pages
from emoscope.server.challenge.pages import organiser as organiser_pages
from emoscope.server.challenge.pages import submissions as submission_pages
from emoscope.server.challenge.pages import team as team_pages
from emoscope.server.http.api_reference import operations
from emoscope.server.http.rendering import STATIC, Assets, page

router = APIRouter(include_in_schema=False)
_MODULES = (account_pages, challenge_pages, team_pages, submission_pages, organiser_pages)


def add_pages(app: FastAPI) -> None:
    """Add the pages and the files they use."""
    for one in (router, *(module.router for module in _MODULES)):
        app.include_router(one)
    app.mount("/static", Assets(directory=STATIC), name="static")


@router.get("/")
async def detect_page(request: Request) -> HTMLResponse:
    """Type or paste a conversation and see its emotions."""
    return page("detect.html.j2", here="detect", limits=request.app.state.settings.limits)


@router.get("/docs")
async def docs_page(request: Request) -> HTMLResponse:
    """The API, described from its own schema, with a form to try each operation."""
    return page("docs.html.j2", here="docs", groups=operations(request.app.openapi()))


@router.get("/favicon.ico")
async def favicon() -> Response:
    """Browsers ask for it here whatever the page says."""
    return RedirectResponse("/static/icon.svg", 308)
