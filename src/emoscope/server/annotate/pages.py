"""The annotation page. Its script sends the annotator's token, so the page itself is the same for everyone."""

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from emoscope.server.http.rendering import page

router = APIRouter(include_in_schema=False)


@router.get("/annotate")
async def annotate_page() -> HTMLResponse:
    """Label one dialogue after another."""
    return page("annotate.html.j2")
