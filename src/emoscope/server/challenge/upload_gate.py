"""Authentication of uploads before their body is read."""

import re

import anyio.to_thread
from starlette.requests import Request
from starlette.types import Scope

from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.tokens import actor_of, authenticate
from emoscope.server.errors import NotAllowed, ServerError, Unauthenticated
from emoscope.server.http.problems import Problem, problem_of
from emoscope.server.sessions import Sessions
from emoscope.server.store import Store

_SUBMISSION = re.compile(r"(/v1)?/challenges/[^/]+/submissions")
# Organisers' uploads: a challenge with its files, gold, files for teams.
_ORGANISING = re.compile(
    r"/v1/challenges|/organise/new(/toml)?|(/v1)?/challenges/[^/]+(/organise)?/phases/[^/]+/gold"
    r"|/challenges/[^/]+/organise/files"
)


def is_upload(path: str) -> bool:
    """Whether this path receives submissions or organisers' files.

    >>> is_upload("/v1/challenges/mine/submissions"), is_upload("/v1/challenges/mine/teams")
    (True, False)
    """
    return _SUBMISSION.fullmatch(path) is not None or _ORGANISING.fullmatch(path) is not None


async def refused_upload(scope: Scope) -> Problem | None:
    """Why an upload is refused before its body is read, or None."""
    if scope["method"] not in ("POST", "PUT") or not is_upload(scope["path"]) or scope["app"].state.store is None:
        return None
    request = Request(scope)
    try:
        actor = await anyio.to_thread.run_sync(_sender, request)
        if actor.role == "public":
            raise Unauthenticated("a token is required")
        if actor.role != "organiser" and _ORGANISING.fullmatch(scope["path"]):
            raise NotAllowed("only organisers can do this")
    except ServerError as error:
        problem = problem_of(request, error)
        problem.headers["Connection"] = "close"  # the body will not be read
        return problem
    return None


def _sender(request: Request) -> Actor:
    store: Store = request.app.state.store
    if request.url.path.startswith("/v1/"):
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return authenticate(store, token.strip() if scheme.lower() == "bearer" else None)
    sessions: Sessions = request.app.state.sessions
    session = sessions.current(request)
    if session is None or not session.token_id:
        raise Unauthenticated("sign in before you upload files")
    return actor_of(store, session.token_id)
