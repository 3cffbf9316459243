"""What the routes depend on: the store, the actor behind a token, and checked path parameters."""

from typing import Annotated

from fastapi import Depends, Path, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.http.problems import running
from emoscope.server.store import Store

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
