"""Views and files as HTTP responses."""

from collections.abc import Sequence
from typing import Literal

from starlette.responses import FileResponse, JSONResponse, Response

from emoscope.server.challenge.board.export import board_csv, board_json
from emoscope.server.challenge.views import BoardView, FileView, View

_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def shown(view: View, status: int = 200) -> JSONResponse:
    """A view as JSON."""
    return JSONResponse(view.as_dict(), status)


def listed(views: Sequence[View]) -> JSONResponse:
    """Views as a JSON list."""
    return JSONResponse([view.as_dict() for view in views])


def download(file: FileView) -> FileResponse:
    """A file to save; never something a browser would show or run."""
    return FileResponse(file.path, filename=file.name, media_type="application/octet-stream")


def board_response(board: BoardView, format: Literal["csv", "json"], *, attached: bool) -> Response:
    """A board as CSV or JSON; `attached` makes a browser save it."""
    content = board_csv(board) if format == "csv" else board_json(board)
    name = f"{board.challenge}-{board.phase}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'} if attached else None
    return Response(content, media_type=_MEDIA_TYPES[format], headers=headers)
