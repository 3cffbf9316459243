"""What the routes share: the store, the actor behind a token, checked path parameters, and views as responses."""

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Annotated, Literal

from fastapi import Depends, Path, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.responses import FileResponse, JSONResponse, Response

from emoscope.server.challenge.board.export import board_csv, board_json
from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.challenge.views import BoardView, View
from emoscope.server.http.problems import running
from emoscope.server.store import Store

_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
MAX_ID = 2**31 - 1  # what an integer column holds everywhere

# Tokens travel in the header only: a cookie is never enough here, so other sites cannot act for a signed-in person.
_bearer = HTTPBearer(auto_error=False, description="A team member's or organiser's token")


OpenStore = Annotated[Store, Depends(running("store", "the store is not open"))]


def _actor(
    store: OpenStore, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)] = None
) -> Actor:
    return authenticate(store, credentials.credentials if credentials else None)


TokenActor = Annotated[Actor, Depends(_actor)]
Slug = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64, examples=["emocontext"])]
PhaseName = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64, examples=["practice"])]
Number = Annotated[int, Path(ge=1, le=MAX_ID)]
SubmissionId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]+$", max_length=64)]


def shown(view: View, status: int = 200) -> JSONResponse:
    """A view as JSON."""
    return JSONResponse(view.as_dict(), status)


def listed(views: Sequence[View]) -> JSONResponse:
    """Views as a JSON list."""
    return JSONResponse([view.as_dict() for view in views])


def download(file: tuple[FilePath, str]) -> FileResponse:
    """A file to save, by its path and its name for the client; never something a browser would show or run."""
    return FileResponse(file[0], filename=file[1], media_type="application/octet-stream")


def board_response(board: BoardView, format: Literal["csv", "json"], *, attached: bool) -> Response:
    """A board as CSV or JSON; `attached` makes a browser save it."""
    content = board_csv(board) if format == "csv" else board_json(board)
    name = f"{board.challenge}-{board.phase}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'} if attached else None
    return Response(content, media_type=_MEDIA_TYPES[format], headers=headers)
