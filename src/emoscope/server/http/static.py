"""Scripts, styles and the icon."""

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

router = APIRouter(include_in_schema=False)


class Assets(StaticFiles):
    """Static files that a browser may cache but must revalidate; text is always UTF-8."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        media_type = response.headers.get("content-type", "")
        if media_type.startswith("text/") and "charset" not in media_type:
            response.headers["content-type"] = f"{media_type}; charset=utf-8"
        return response


ASSETS = Assets(directory=Path(__file__).parent / "static")


@router.get("/favicon.ico")
async def favicon() -> Response:
    """Browsers request this whatever the page says."""
    return RedirectResponse("/static/icon.svg", 308)
