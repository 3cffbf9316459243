"""Who asks, and for what: the store, the actor behind a token, and path parts that are safe to look up."""

from typing import Annotated, Any

from fastapi import Depends, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.responses import FileResponse, JSONResponse

from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.challenge.services.views import Download, View
from emoscope.server.http.problems import Problem
from emoscope.server.store import Store

MAX_ID = 2**31 - 1  # what an integer column holds everywhere

# Tokens travel in the header only: a cookie is never enough here, so other sites cannot act for a signed-in person.
_bearer = HTTPBearer(auto_error=False, description="A team member's or organiser's token")


def the_store(request: Request) -> Store:
    """The open store of the app."""
    store: Store | None = request.app.state.store
    if store is None:
        raise Problem(503, "starting", "the store is not open", headers={"Retry-After": "1"})
    return store


OpenStore = Annotated[Store, Depends(the_store)]


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
    """A view as a response."""
    return JSONResponse(view.as_dict(), status)


def listed(views: "list[Any]") -> JSONResponse:
    """Views as a response."""
    return JSONResponse([view.as_dict() for view in views])


def handed_out(file: Download) -> FileResponse:
    """A file to save; never something a browser would show or run."""
    return FileResponse(file.path, filename=file.name, media_type="application/octet-stream")
