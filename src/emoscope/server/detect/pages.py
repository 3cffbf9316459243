"""The detection page."""

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from emoscope.server.http.rendering import page

router = APIRouter(include_in_schema=False)


@router.get("/")
async def detect_page(request: Request) -> HTMLResponse:
    """Type or paste a conversation and see its emotions."""
    return page("detect.html.j2", here="detect", limits=request.app.state.settings.limits)
